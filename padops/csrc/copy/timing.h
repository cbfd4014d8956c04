// Times the copies on this processor, so that anyone can see whether the choice between them is right there.
#pragma once

#include <cstdint>
#include <string_view>

namespace padops {

// Copies rows into rows that stand further apart, as a Pad does.
struct CopiedRows {
  int64_t run;    // bytes of a row, more than a cache line
  int64_t bytes;  // of all rows together
  int64_t gap;    // bytes between two rows of the target: what aligns them differently from the source
};

// The median of `rounds` passes, in seconds. `name` is "libc", "chosen" for what the writers take for such rows, or
// what named_copy takes. Throws std::invalid_argument for another name and for numbers that describe no rows;
// std::length_error and std::bad_alloc for more rounds than memory has room for.
double time_copy(std::string_view name, const CopiedRows& rows, int64_t rounds);

}  // namespace padops
