// What a row of the output consists of.
#pragma once

#include <cstdint>
#include <vector>

#include "plan.h"

namespace padops {

// A stretch of an axis, in positions.
struct Run {
  enum class Kind {
    kFilled,    // the fill
    kForward,   // source positions from `source` up
    kBackward,  // source positions from `source` down
    kRepeat,    // the source position `source` again and again
    kDilated,   // source positions from `source` up, the first `lead` places in, interior fill between them (P6)
    kPeriodic,  // what stands `source` positions earlier in this output row
  };
  Kind kind;
  int64_t target;
  int64_t count;
  int64_t source = 0;
  int64_t lead = 0;
};

// Neighbouring rows of the output, in positions of the innermost axis.
struct Rows {
  int64_t target;  // where the first begins in the output
  int64_t source;  // and in the source
  int64_t length;  // from one to the next in the output
  int64_t step;    // and in the source
  int64_t count;
};

// The run of a row that begins at output position `at` and ends at `stop` or before, for an axis without interior.
Run run_at(const AxisPlan& axis, Mode mode, int64_t at, int64_t stop);

// A row of `axis` as runs. Of many periods only the first is listed, however long the row is.
std::vector<Run> row_runs(const AxisPlan& axis, Mode mode);

}  // namespace padops
