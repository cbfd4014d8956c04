// The map of an axis, from output position to source position or fill (P2, P6), as runs.
#pragma once

#include <cstdint>
#include <vector>

#include "copy/writer.h"
#include "core/plan.h"

namespace padops {

// The source position that stands for fill.
constexpr int64_t kFill = -1;

// Elements after which the extension of an axis repeats (P2); 0 if it never does (constant, edge).
int64_t period_of(const AxisPlan& axis, Mode mode);

// The run of a row that begins at output position `at` and ends at `stop` or before, for an axis without interior. This
// is rule P2, from which all else derives.
Run run_at(const AxisPlan& axis, Mode mode, int64_t at, int64_t stop);

// The source position that output `position` of an axis shows, or kFill.
int64_t source_index(const AxisPlan& axis, Mode mode, int64_t position);

// A row of `axis` as runs. If a row has many runs and many periods, only the first period is listed, so that the list
// stays short.
std::vector<Run> row_runs(const AxisPlan& axis, Mode mode);

}  // namespace padops
