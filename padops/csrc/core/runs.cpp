#include "core/runs.h"

#include <algorithm>

namespace padops {

namespace {

// Rows with at most this many runs are listed whole, so that a window between two borders is recognized.
constexpr size_t kFewRuns = 3;

// Most borders are shorter than a period: a division would take longer than the row.
int64_t modulo(int64_t value, int64_t divisor) {
  if (value >= 0 && value < divisor) return value;
  if (value < 0 && value >= -divisor) return value + divisor;
  const int64_t remainder = value % divisor;
  return remainder < 0 ? remainder + divisor : remainder;
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
    const int64_t offset = axis.begin + skipped * step - first;
    runs.push_back({Run::Kind::kDilated, first, last - first, axis.start + skipped, offset});
  }
  if (axis.output > last) runs.push_back({Run::Kind::kFilled, last, axis.output - last});
  return runs;
}

}  // namespace

int64_t period_of(const AxisPlan& axis, Mode mode) {
  switch (mode) {
    case Mode::kReflect: return std::max<int64_t>(2 * (axis.extent - 1), 1);
    case Mode::kSymmetric: return 2 * axis.extent;
    case Mode::kWrap: return axis.extent;
    default: return 0;
  }
}

Run run_at(const AxisPlan& axis, Mode mode, int64_t at, int64_t stop) {
  const int64_t extent = axis.extent;
  const int64_t offset = at - axis.begin;
  const auto ends = [&](int64_t count) { return std::min(count, stop - at); };
  const auto forward = [&](int64_t phase) {
    return Run{Run::Kind::kForward, at, ends(extent - phase), axis.start + phase};
  };
  if (offset >= 0 && offset < extent) return forward(offset);
  // The border on this side ends at the window, or at the end of the row.
  const int64_t border = ends(offset < 0 ? -offset : stop - at);
  if (mode == Mode::kConstant) return {Run::Kind::kFilled, at, extent == 0 ? stop - at : border};
  if (mode == Mode::kEdge || extent == 1)
    return {Run::Kind::kRepeat, at, border, axis.start + (offset < 0 ? 0 : extent - 1)};
  const int64_t period = period_of(axis, mode);
  const int64_t phase = modulo(offset, period);
  if (mode == Mode::kSymmetric) {  // symmetric repeats the last element
    if (phase < extent) return forward(phase);
    return {Run::Kind::kBackward, at, ends(period - phase), axis.start + period - 1 - phase};
  }
  if (mode == Mode::kWrap || phase < extent - 1) return forward(phase);
  // From the last element to the first, both included, so that the longest allowed border is one run.
  return {Run::Kind::kBackward, at, std::min(period - phase + 1, border), axis.start + period - phase};
}

int64_t source_index(const AxisPlan& axis, Mode mode, int64_t position) {
  const int64_t offset = position - axis.begin;
  if (axis.interior != 0) {
    const int64_t step = axis.interior + 1;
    const bool shown = offset >= 0 && offset % step == 0 && offset / step < axis.extent;
    return shown ? axis.start + offset / step : kFill;
  }
  if (offset >= 0 && offset < axis.extent) return axis.start + offset;
  const Run run = run_at(axis, mode, position, position + 1);
  return run.kind == Run::Kind::kFilled ? kFill : run.source;
}

std::vector<Run> row_runs(const AxisPlan& axis, Mode mode) {
  if (axis.interior != 0) return dilated_runs(axis);
  std::vector<Run> runs;
  int64_t at = 0;
  for (; at < axis.output && runs.size() < kFewRuns; at += runs.back().count)
    runs.push_back(run_at(axis, mode, at, axis.output));
  if (at == axis.output) return runs;
  const int64_t period = period_of(axis, mode);  // not 0: without a period there are at most three runs
  const int64_t listed = axis.output <= 2 * period ? axis.output : period;
  runs.clear();
  for (at = 0; at < listed; at += runs.back().count) runs.push_back(run_at(axis, mode, at, listed));
  if (listed < axis.output) runs.push_back({Run::Kind::kPeriodic, listed, axis.output - listed, period});
  return runs;
}

}  // namespace padops
