// Executes a plan on bytes. Knows no dialect, no element type and no runtime: an element is a width.
//
// Untouched axes merge into their neighbours, trailing ones into the element. What is left is rows along the innermost
// axis that changes, each a short list of runs; the other axes only choose the source row. Nothing is ever as long as
// the output but the output itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan.h"

namespace padops {

// A stretch of a row, in elements.
struct Run {
  enum class Kind {
    kFilled,    // the fill
    kForward,   // source elements from `source` up
    kBackward,  // source elements from `source` down
    kRepeat,    // the source element `source` again and again
    kDilated,   // source elements from `source` up, the first `lead` places in, interior fill between them (P6)
    kPeriodic,  // what stands `source` elements earlier in this output row
  };
  Kind kind;
  int64_t target;
  int64_t count;
  int64_t source = 0;
  int64_t lead = 0;
};

class Engine {
 public:
  // width: bytes of one element of the tensor.
  Engine(const Plan& plan, size_t width);

  // The work falls into this many independent tasks; 0 where the output is empty.
  size_t tasks() const { return tasks_; }

  // Writes the part of the output that belongs to `task`. `fill` is one element. Never throws.
  void run(size_t task, const char* source, char* output, const char* fill) const noexcept;

 private:
  // One of the axes that choose the source row.
  struct Outer {
    AxisPlan axis;
    int64_t stride;  // bytes between two source positions
  };

  int64_t source_offset(const int64_t* position) const;

  Mode mode_;
  size_t width_;      // bytes of one element of the tensor: what the fill repeats with
  size_t element_;    // bytes of one element of a row
  int64_t interior_;  // of the innermost axis
  std::vector<Outer> outer_;
  std::vector<Run> row_;
  size_t row_bytes_;
  size_t rows_;
  size_t rows_per_task_;
  size_t tasks_;
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
