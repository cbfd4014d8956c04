// Executes a plan on memory. It knows no dialect, no element type and no runtime: an element is a number of bits.
//
// It merges untouched axes into their neighbours, and trailing ones into the element. The innermost axis that changes
// is left as rows, each a short list of runs. The outer axes choose the source row of each, in runs as well. So nothing
// but the output itself is ever as long as the output.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/plan.h"
#include "core/runs.h"
#include "core/streaming.h"
#include "core/thresholds.h"

namespace padops {

// Where part `part` begins if a row of `total` positions is cut into `parts` parts. No part is more than one position
// longer than another. The plain `total * part / parts` would overflow for very long rows.
constexpr int64_t cut(int64_t total, int64_t parts, int64_t part) {
  return total / parts * part + std::min(part, total % parts);
}

// As many axes as NumPy has. A task keeps its place in them in an array on the stack, so that it need not allocate and
// cannot fail.
constexpr size_t kMaxAxes = 64;

class Engine {
 public:
  // `bits` of one element of the tensor: a power of two from 2 to 128. The caller has made sure that source and output
  // fit into memory (P10): their bits are counted in an int64_t, and 2^59 - 1 elements of 64 bits would be too many for
  // that.
  Engine(const Plan& plan, int bits, const Thresholds& thresholds = Thresholds::of_this_machine());

  // The number of independent tasks that the work falls into; 0 where the output is empty.
  size_t tasks() const { return tasks_; }

  // Bytes of the output.
  int64_t bytes() const { return (rows_ * inner_.output * element_ + 7) / 8; }

  // How many tasks share a row.
  int64_t parts() const { return parts_; }

  Streaming streaming() const { return streaming_; }

  // Writes what belongs to `task`, and nothing else. `fill` is one element, sub-byte ones in the low bits.
  void run(size_t task, const char* source, char* output, const char* fill) const noexcept;

 private:
  // One of the axes that choose the source row.
  struct Outer {
    AxisPlan axis;
    int64_t stride;  // positions of the innermost axis between two positions of this one, in the source
  };

  // What a task writes: positions `begin` to `end` of each of its rows. These are all positions if it has several rows.
  struct Task {
    int64_t row;
    int64_t rows;
    int64_t begin;
    int64_t end;
  };

  void choose_rows(const Plan& plan);
  void split();
  Task task(size_t index) const;
  int64_t equal_groups(const int64_t* position, int64_t rows) const;
  int64_t further(int64_t source, const Outer& outer, int64_t position) const;
  void run_bits(const Task& task, bool is_last, const char* source, char* output, char fill) const;
  template <size_t kElement>
  void run_bytes(const Task& task, const char* source, char* output, const char* pattern, bool streams) const;
  template <Writer W>
  void walk(const Task& task, W& writer) const;
  template <Writer W>
  void write_group(W& writer, int64_t row, int64_t index, int64_t count, int64_t source) const;
  template <Writer W>
  void write_rows(W& writer, const Rows& rows) const;
  template <Writer W>
  void write_part(W& writer, const Task& task, int64_t source) const;
  template <Writer W>
  void write_run(W& writer, const Run& run, int64_t target, int64_t source) const;

  Thresholds thresholds_;
  Mode mode_;
  int bits_;         // of one element of the tensor: what the fill repeats with
  int64_t element_;  // bits of one position of a row
  AxisPlan inner_;   // the axis that rows run along
  std::vector<Run> runs_;
  std::optional<BorderedRow> bordered_;  // the same, where it is one
  std::vector<Outer> outer_;             // the last of them chooses among neighbouring rows
  int64_t source_size_ = 0;              // positions in all its rows
  int64_t rows_ = 0;
  int64_t rows_per_task_ = 1;
  int64_t parts_ = 1;  // tasks that share a row, where rows are few and long
  size_t tasks_ = 0;
  Streaming streaming_ = Streaming::kNever;
  mutable std::atomic<int> running_ = 0;  // tasks at work, where streaming_ depends on them
};

// Calls visit(source element index, or kFill) for each element of the output, in order.
template <class Visit>
void for_each_source(const Plan& plan, Visit visit) {
  const size_t rank = plan.axes.size();
  std::vector<int64_t> position(rank, 0);
  std::vector<int64_t> source(rank, 0);
  for (const AxisPlan& axis : plan.axes)
    if (axis.output == 0) return;
  const auto place = [&](size_t i) { source[i] = source_index(plan.axes[i], plan.mode, position[i]); };
  for (size_t i = 0; i < rank; ++i) place(i);
  for (;;) {
    int64_t index = 0;
    for (size_t i = 0; i < rank && index != kFill; ++i)
      index = source[i] == kFill ? kFill : index * plan.axes[i].size + source[i];
    visit(index);
    size_t i = rank;
    for (; i > 0; --i) {
      if (++position[i - 1] < plan.axes[i - 1].output) {
        place(i - 1);
        break;
      }
      position[i - 1] = 0;
      place(i - 1);
    }
    if (i == 0) return;
  }
}

}  // namespace padops
