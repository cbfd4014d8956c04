// A Pad as a plan: per axis, a window of the source, its position in the output, and a mode that extends it. Rules
// P1–P10 are those of docs/semantics.md; padops/spec/plan.py is the second, independent implementation, with the same
// error texts.
//
//   constant   ___ abcd ___
//   edge       aaa abcd ddd
//   reflect    dcb abcd cba
//   symmetric  cba abcd dcb
//   wrap       bcd abcd abc
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace padops {

enum class Mode { kConstant, kEdge, kReflect, kSymmetric, kWrap };
enum class Crop { kFull, kCrop };                // P3
enum class Limit { kNone, kOpenVINO, kNGraph };  // P4

// P10: the most elements of an axis and of a tensor. With 16-byte elements, they take less than 2^63 bytes, and sums of
// a few such numbers stay within int64.
constexpr int64_t kLargest = (int64_t{1} << 59) - 1;

constexpr bool beyond(int64_t amount) { return amount > kLargest || amount < -kLargest; }

// A broken rule. The caller adds the names of the operator and the node to the message.
class PadError : public std::runtime_error {
 public:
  PadError(const char* rule, const std::string& detail) : std::runtime_error(detail + " [" + rule + "]") {}
};

// Pads of one axis: elements added (or, if negative, cropped) before and after, and between any two elements.
struct Amounts {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t interior = 0;
};

// One axis, ready to execute; runs.h has the map from its output positions to its source positions.
struct AxisPlan {
  int64_t size = 1;      // elements of the source axis
  int64_t start = 0;     // first source element of the window; 0 unless CROP has cut the beginning (P3)
  int64_t extent = 1;    // elements of the window
  int64_t begin = 0;     // output position of the window's first element (negative where FULL crops)
  int64_t interior = 0;  // fill elements between two neighbours
  int64_t output = 1;    // elements of the output axis

  bool untouched() const { return start == 0 && begin == 0 && interior == 0 && extent == size && output == size; }
  bool operator==(const AxisPlan&) const = default;
};

struct Plan {
  Mode mode = Mode::kConstant;
  std::vector<AxisPlan> axes;

  std::vector<int64_t> shape() const;
};

struct Rules {
  Crop crop = Crop::kCrop;
  Limit limit = Limit::kNone;
  bool clamp = false;  // a negative output dim is 0 instead of an error (P1)
};

std::string_view mode_name(Mode mode);

// Checks the amounts against the shape and builds the plan. Throws PadError: P1, P4, P5, P6 or P10.
Plan make_plan(const std::vector<int64_t>& shape, const std::vector<Amounts>& amounts, Mode mode, const Rules& rules);

// Simplifies a plan's axes without changing the map of memory: merges untouched neighbours, and drops untouched axes of
// one position.
std::vector<AxisPlan> merged_axes(const Plan& plan);

}  // namespace padops
