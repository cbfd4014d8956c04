#include "engine.h"

#include <algorithm>
#include <cstring>

#include "text.h"

namespace padops {

namespace {

// A task below this size is not worth handing to another thread.
constexpr size_t kTaskBytes = 256 * 1024;

// As many as NumPy's; a task keeps its place in them without allocating, so that it cannot fail.
constexpr size_t kMostAxes = 64;

int64_t modulo(int64_t value, int64_t divisor) {
  const int64_t rest = value % divisor;
  return rest < 0 ? rest + divisor : rest;
}

// Runs of untouched axes as one axis each; the plan stays the same map.
std::vector<AxisPlan> merge(const Plan& plan) {
  std::vector<AxisPlan> axes;
  for (const AxisPlan& axis : plan.axes) {
    if (axis.untouched() && !axes.empty() && axes.back().untouched()) {
      const int64_t size = axes.back().size * axis.size;
      axes.back() = {size, 0, size, 0, 0, size};
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

// The run of a row that begins at output position `at` and ends at `stop` or before, for an axis without interior.
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

// The runs of an axis with interior: fill, the dilated window, fill (P6).
std::vector<Run> dilated_runs(const AxisPlan& axis) {
  const int64_t step = axis.interior + 1;
  const int64_t dilated = axis.extent == 0 ? 0 : (axis.extent - 1) * step + 1;
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

// A row of `axis` as runs. A periodic extension is listed for one period only, however long the row is.
std::vector<Run> row_runs(const AxisPlan& axis, Mode mode) {
  if (axis.interior != 0) return dilated_runs(axis);
  const int64_t turn = period(axis, mode);
  const int64_t listed = turn == 0 ? axis.output : std::min(axis.output, turn);
  std::vector<Run> runs;
  for (int64_t at = 0; at < listed; at += runs.back().count) runs.push_back(run_at(axis, mode, at, listed));
  if (listed < axis.output) runs.push_back({Run::Kind::kPeriodic, listed, axis.output - listed, turn});
  return runs;
}

template <size_t kWidth>
void copy_element(char* target, const char* source, size_t element) {
  std::memcpy(target, source, kWidth == 0 ? element : kWidth);
}

// Writes `count` times the `kWidth` bytes at `value`, which may lie right before `target`.
template <size_t kWidth>
void repeat(char* target, const char* value, size_t count) {
  char held[kWidth];
  std::memcpy(held, value, kWidth);
  for (size_t i = 0; i < count; ++i) std::memcpy(target + i * kWidth, held, kWidth);
}

// Goes on with what stands `period` bytes before `target`, doubling the stretch that is copied.
void repeat_before(char* target, size_t period, size_t bytes) {
  const char* source = target - period;
  size_t known = period;
  while (bytes > 0) {
    const size_t chunk = std::min(known, bytes);
    std::memcpy(target, source, chunk);
    target += chunk;
    bytes -= chunk;
    known += chunk;
  }
}

void write_fill(char* target, size_t bytes, const char* fill, size_t width) {
  switch (width) {
    case 1: std::memset(target, static_cast<unsigned char>(*fill), bytes); break;
    case 2: repeat<2>(target, fill, bytes / 2); break;
    case 4: repeat<4>(target, fill, bytes / 4); break;
    case 8: repeat<8>(target, fill, bytes / 8); break;
    default: repeat<16>(target, fill, bytes / 16); break;
  }
}

struct RowWriter {
  size_t width;
  size_t element;
  int64_t step;  // interior + 1
  const char* fill;

  template <size_t kWidth>
  void write(const Run& run, const char* source, char* row) const {
    char* target = row + run.target * element;
    const char* from = source + run.source * element;
    const auto count = static_cast<size_t>(run.count);
    switch (run.kind) {
      case Run::Kind::kFilled:
        write_fill(target, count * element, fill, width);
        break;
      case Run::Kind::kForward:
        std::memcpy(target, from, count * element);
        break;
      case Run::Kind::kBackward:
        for (size_t i = 0; i < count; ++i) copy_element<kWidth>(target + i * element, from - i * element, element);
        break;
      case Run::Kind::kRepeat:
        if constexpr (kWidth != 0) {
          repeat<kWidth>(target, from, count);
        } else {
          std::memcpy(target, from, element);
          repeat_before(target + element, element, (count - 1) * element);
        }
        break;
      case Run::Kind::kDilated:
        write_fill(target, count * element, fill, width);
        for (int64_t at = run.lead; at < run.count; at += step, from += element)
          copy_element<kWidth>(target + at * element, from, element);
        break;
      case Run::Kind::kPeriodic:
        repeat_before(target, run.source * element, count * element);
        break;
    }
  }

  void write_row(const std::vector<Run>& runs, const char* source, char* row) const {
    for (const Run& run : runs) {
      switch (element) {
        case 1: write<1>(run, source, row); break;
        case 2: write<2>(run, source, row); break;
        case 4: write<4>(run, source, row); break;
        case 8: write<8>(run, source, row); break;
        case 16: write<16>(run, source, row); break;
        default: write<0>(run, source, row); break;
      }
    }
  }
};

}  // namespace

Engine::Engine(const Plan& plan, size_t width) : mode_(plan.mode), width_(width), element_(width), tasks_(0) {
  const std::vector<int64_t> shape = plan.shape();
  rows_ = rows_per_task_ = row_bytes_ = 0;
  interior_ = 0;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;

  std::vector<AxisPlan> axes = merge(plan);
  AxisPlan inner;  // a single element, where nothing is padded
  if (!axes.empty() && axes.back().untouched()) {
    element_ *= axes.back().output;
    axes.pop_back();
  }
  if (!axes.empty()) {
    inner = axes.back();
    axes.pop_back();
  }
  interior_ = inner.interior;
  row_ = row_runs(inner, mode_);
  row_bytes_ = inner.output * element_;

  if (axes.size() > kMostAxes) throw PadError("P10", text("more than ", kMostAxes, " axes are padded"));
  int64_t stride = inner.size * static_cast<int64_t>(element_);
  rows_ = 1;
  for (size_t i = axes.size(); i > 0; --i) {
    outer_.insert(outer_.begin(), {axes[i - 1], stride});
    stride *= axes[i - 1].size;
    rows_ *= axes[i - 1].output;
  }
  rows_per_task_ = std::max<size_t>(1, kTaskBytes / row_bytes_);
  tasks_ = (rows_ + rows_per_task_ - 1) / rows_per_task_;
}

int64_t Engine::source_offset(const int64_t* position) const {
  int64_t offset = 0;
  for (size_t i = 0; i < outer_.size(); ++i) {
    const int64_t index = source_index(outer_[i].axis, mode_, position[i]);
    if (index == kFill) return kFill;
    offset += index * outer_[i].stride;
  }
  return offset;
}

void Engine::run(size_t task, const char* source, char* output, const char* fill) const noexcept {
  const RowWriter writer{width_, element_, interior_ + 1, fill};
  size_t row = task * rows_per_task_;
  const size_t stop = std::min(rows_, row + rows_per_task_);
  int64_t position[kMostAxes];
  size_t rest = row;
  for (size_t i = outer_.size(); i > 0; --i) {
    position[i - 1] = static_cast<int64_t>(rest % outer_[i - 1].axis.output);
    rest /= outer_[i - 1].axis.output;
  }
  for (; row < stop; ++row) {
    char* target = output + row * row_bytes_;
    const int64_t offset = source_offset(position);
    if (offset == kFill) {
      write_fill(target, row_bytes_, fill, width_);
    } else {
      writer.write_row(row_, source + offset, target);
    }
    for (size_t i = outer_.size(); i > 0; --i) {
      if (++position[i - 1] < outer_[i - 1].axis.output) break;
      position[i - 1] = 0;
    }
  }
}

}  // namespace padops
