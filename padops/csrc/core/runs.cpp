#include "runs.h"

#include <algorithm>

namespace padops {

namespace {

int64_t modulo(int64_t value, int64_t divisor) {
  const int64_t rest = value % divisor;
  return rest < 0 ? rest + divisor : rest;
}

// The runs of an axis with interior, which has two elements or more: fill, the dilated window, fill (P6).
std::vector<Run> dilated_runs(const AxisPlan& axis) {
  const int64_t step = axis.interior + 1;
  const int64_t dilated = (axis.extent - 1) * step + 1;
  const int64_t first = std::clamp<int64_t>(axis.begin, 0, axis.output);
  const int64_t last = std::clamp<int64_t>(axis.begin + dilated, first, axis.output);
  std::vector<Run> runs;
  if (first > 0) runs.push_back({Run::Kind::kFilled, 0, first});
  if (last > first) {
    const int64_t skipped = (first - axis.begin + step - 1) / step;  // elements that the crop takes away
    const int64_t lead = axis.begin + skipped * step - first;
    runs.push_back({Run::Kind::kDilated, first, last - first, axis.start + skipped, lead});
  }
  if (axis.output > last) runs.push_back({Run::Kind::kFilled, last, axis.output - last});
  return runs;
}

}  // namespace

Run run_at(const AxisPlan& axis, Mode mode, int64_t at, int64_t stop) {
  const int64_t extent = axis.extent;
  const int64_t offset = at - axis.begin;
  const auto ends = [&](int64_t count) { return std::min(count, stop - at); };
  if (offset >= 0 && offset < extent) return {Run::Kind::kForward, at, ends(extent - offset), axis.start + offset};
  // The border on this side goes on up to the window, or to the end of the row.
  const int64_t border = ends(offset < 0 ? -offset : stop - at);
  switch (mode) {
    case Mode::kEdge:
      return {Run::Kind::kRepeat, at, border, axis.start + (offset < 0 ? 0 : extent - 1)};
    case Mode::kWrap: {
      const int64_t phase = modulo(offset, extent);
      return {Run::Kind::kForward, at, ends(extent - phase), axis.start + phase};
    }
    case Mode::kSymmetric: {
      const int64_t phase = modulo(offset, 2 * extent);
      if (phase < extent) return {Run::Kind::kForward, at, ends(extent - phase), axis.start + phase};
      return {Run::Kind::kBackward, at, ends(2 * extent - phase), axis.start + 2 * extent - 1 - phase};
    }
    case Mode::kReflect: {
      const int64_t turn = std::max<int64_t>(2 * (extent - 1), 1);
      const int64_t phase = modulo(offset, turn);
      if (phase < extent) return {Run::Kind::kForward, at, ends(extent - phase), axis.start + phase};
      return {Run::Kind::kBackward, at, ends(turn - phase), axis.start + turn - phase};
    }
    case Mode::kConstant:
      break;
  }
  return {Run::Kind::kFilled, at, extent == 0 ? stop - at : border, 0};
}

std::vector<Run> row_runs(const AxisPlan& axis, Mode mode) {
  if (axis.interior != 0) return dilated_runs(axis);
  const int64_t turn = period(axis, mode);
  const int64_t listed = turn == 0 || axis.output <= 2 * turn ? axis.output : turn;
  std::vector<Run> runs;
  for (int64_t at = 0; at < listed; at += runs.back().count) runs.push_back(run_at(axis, mode, at, listed));
  if (listed < axis.output) runs.push_back({Run::Kind::kPeriodic, listed, axis.output - listed, turn});
  return runs;
}

}  // namespace padops
