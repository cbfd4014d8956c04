// Executes a plan on memory. The engine knows no dialect, element type or runtime: an element is a number of bits.
//
// The engine merges untouched axes into their neighbours, and trailing ones into the element. The innermost changed
// axis becomes rows, each a short list of runs. The outer axes choose each row's source row, also in runs. So only the
// output itself is as long as the output.
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

// The begin of part `part` of a row of `total` positions in `parts` parts, whose lengths differ by at most one. The
// plain `total * part / parts` would overflow for very long rows.
constexpr int64_t cut(int64_t total, int64_t parts, int64_t part) {
  return total / parts * part + std::min(part, total % parts);
}

// As many axes as NumPy allows. A task keeps its position in an array on the stack, so it never allocates and cannot
// fail.
constexpr size_t kMaxAxes = 64;

class Engine {
 public:
  // `bits` of one element of the tensor: a power of two from 2 to 128. The caller ensures that source and output fit
  // into memory (P10): an int64_t counts their bits, and would overflow at 2^59 - 1 elements of 64 bits.
  Engine(const Plan& plan, int bits, const Thresholds& thresholds = Thresholds::of_this_machine());

  // The number of independent tasks; 0 if the output is empty.
  size_t tasks() const { return tasks_; }

  // Bytes of the output.
  int64_t bytes() const { return (rows_ * inner_.output * element_ + 7) / 8; }

  // The number of tasks that share a row.
  int64_t parts() const { return parts_; }

  Streaming streaming() const { return streaming_; }

  // Writes only the part of `task`. `fill` is one element; a sub-byte element is in the low bits.
  void run(size_t task, const char* source, char* output, const char* fill) const noexcept;

 private:
  // An axis that chooses the source row.
  struct Outer {
    AxisPlan axis;
    int64_t stride;  // positions of the innermost axis between two positions of this one, in the source
  };

  // The part of a task: positions `begin` to `end` of each of its rows; all positions if it has several rows.
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
  int bits_;         // of one element of the tensor, which is the period of the fill
  int64_t element_;  // bits of one position of a row
  AxisPlan inner_;   // the axis along which rows run
  std::vector<Run> runs_;
  std::optional<BorderedRow> bordered_;  // the same, where it is one
  std::vector<Outer> outer_;             // the last of them chooses among neighbouring rows
  int64_t source_size_ = 0;              // positions in all its rows
  int64_t rows_ = 0;
  int64_t rows_per_task_ = 1;
  int64_t parts_ = 1;  // tasks that share a row, if rows are few and long
  size_t tasks_ = 0;
  Streaming streaming_ = Streaming::kNever;
  mutable std::atomic<int> running_ = 0;  // active tasks, if streaming_ depends on them
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
