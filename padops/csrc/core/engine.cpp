#include "core/engine.h"

#include <algorithm>
#include <cstring>

#include "copy/copy.h"
#include "core/text.h"

namespace padops {

Engine::Engine(const Plan& plan, int bits, const Thresholds& thresholds)
    : thresholds_(thresholds), mode_(plan.mode), bits_(bits), element_(bits) {
  const std::vector<int64_t> shape = plan.shape();
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  choose_rows(plan);
  split();
  if (bits_ < 8) return;  // there is no non-temporal writer for them
  const int64_t element = element_ / 8;
  const int64_t bytes = (source_size_ + rows_ * inner_.output) * element;
  streaming_ = choose_streaming({bytes, element, parts_ > 1}, runs_, thresholds_);
}

// Divides the axes into the row axis, the axes outside it, and the axes inside the element.
void Engine::choose_rows(const Plan& plan) {
  std::vector<AxisPlan> axes = merged_axes(plan);
  if (axes.size() == 1 && axes[0].untouched()) {
    inner_ = axes[0];  // a plain copy: one long row
    axes.clear();
  } else if (!axes.empty()) {
    if (axes.back().untouched()) {
      element_ *= axes.back().output;
      axes.pop_back();
    }
    inner_ = axes.back();
    axes.pop_back();
  }
  runs_ = row_runs(inner_, mode_);
  bordered_ = bordered_row(runs_);
  if (axes.size() > kMaxAxes)
    throw PadError("P10", text("of the ", plan.axes.size(), " axes ", axes.size(), " remain outside the rows after ",
                               "neighbours that stay as they are have been merged, and at most ", kMaxAxes, " may"));
  // An empty source is never read, and the product of its other dims may overflow.
  const auto is_empty = [](const AxisPlan& axis) { return axis.size == 0; };
  const bool empty = std::any_of(plan.axes.begin(), plan.axes.end(), is_empty);
  int64_t stride = empty ? 0 : inner_.size;
  rows_ = 1;
  for (size_t i = axes.size(); i > 0; --i) {
    outer_.insert(outer_.begin(), {axes[i - 1], stride});
    stride *= axes[i - 1].size;
    rows_ *= axes[i - 1].output;
  }
  if (outer_.empty()) outer_.push_back({AxisPlan{}, 0});
  source_size_ = stride;
}

// Cuts the work into tasks of many rows each, or of a part of a row if rows are few and long.
void Engine::split() {
  const int64_t row_bytes = std::max<int64_t>(inner_.output * element_ / 8, 1);
  const int64_t bytes = rows_ * row_bytes;
  rows_per_task_ = rows_;
  if (bytes >= thresholds_.shared) {
    const int64_t task_bytes = std::clamp(bytes / 8, thresholds_.min_task, thresholds_.max_task);
    const bool long_rows = row_bytes >= 2 * task_bytes;
    // A part has no kPeriodic run: it lists the runs of each period, too many if the period is short.
    const int64_t period = period_of(inner_, mode_);
    const bool few_runs =
        period == 0 || inner_.extent == 1 || period * element_ / 8 >= task_bytes || inner_.output <= period;
    if (long_rows && few_runs && inner_.interior == 0 && element_ % 8 == 0) {
      parts_ = std::min(row_bytes / task_bytes, inner_.output);
      rows_per_task_ = 1;
    } else {
      // Tasks of sub-byte elements must begin at whole bytes.
      const int64_t unit = element_ % 8 == 0 ? 1 : 8 / bits_;
      rows_per_task_ = std::max<int64_t>(task_bytes / row_bytes / unit, 1) * unit;
    }
  }
  tasks_ = (rows_ + rows_per_task_ - 1) / rows_per_task_ * parts_;
}

Engine::Task Engine::task(size_t index) const {
  const int64_t part = static_cast<int64_t>(index) % parts_;
  const int64_t row = static_cast<int64_t>(index) / parts_ * rows_per_task_;
  return {row, std::min(rows_ - row, rows_per_task_), cut(inner_.output, parts_, part),
          cut(inner_.output, parts_, part + 1)};
}

void Engine::run(size_t index, const char* source, char* output, const char* fill) const noexcept {
  const Task work = task(index);
  if (bits_ < 8) return run_bits(work, index + 1 == tasks_, source, output, *fill);
  char pattern[kLine];
  const size_t size = bits_ / 8;
  std::memcpy(pattern, fill, size);
  for (size_t at = size; at < sizeof(pattern); at *= 2) std::memcpy(pattern + at, pattern, at);
  const StreamingTask streaming(streaming_, running_);
  switch (element_ / 8) {
    case 1: return run_bytes<1>(work, source, output, pattern, streaming.streams());
    case 2: return run_bytes<2>(work, source, output, pattern, streaming.streams());
    case 4: return run_bytes<4>(work, source, output, pattern, streaming.streams());
    case 8: return run_bytes<8>(work, source, output, pattern, streaming.streams());
    case 16: return run_bytes<16>(work, source, output, pattern, streaming.streams());
    default: return run_bytes<0>(work, source, output, pattern, streaming.streams());
  }
}

}  // namespace padops
