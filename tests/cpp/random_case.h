// A random Pad, and the way in which the engine executes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan.h"
#include "core/thresholds.h"
#include "draw.h"

struct Case {
  int bits = 8;
  padops::Mode mode = padops::Mode::kConstant;
  padops::Rules rules;
  std::vector<int64_t> shape;
  std::vector<padops::Amounts> amounts;
  padops::Thresholds thresholds;
  uint64_t source_offset = 0;
  uint64_t output_offset = 0;
  bool flush_right = false;
};

Case random_case(Draw& draw);

// The case in words.
std::string words(const Case& one);
