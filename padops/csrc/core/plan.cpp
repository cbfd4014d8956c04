#include "core/plan.h"

#include <algorithm>

#include "core/text.h"

namespace padops {

namespace {

// Elements of an axis with `interior` more between any two (P1); kLargest + 1 if larger than kLargest.
int64_t dilated_size(int64_t size, int64_t interior) {
  if (size <= 1) return size;
  if (interior >= kLargest || size - 1 > kLargest / (interior + 1)) return kLargest + 1;
  return std::min((size - 1) * (interior + 1) + 1, kLargest + 1);
}

// The checked output dim of one axis (P1, P6, P10).
int64_t output_size(size_t axis, int64_t size, const Amounts& pads, Mode mode, bool clamp) {
  if (pads.interior < 0)
    throw PadError("P6", text("axis ", axis, " has interior ", pads.interior, ", which must not be negative"));
  if (pads.interior != 0 && mode != Mode::kConstant)
    throw PadError("P6", text("axis ", axis, " has interior ", pads.interior, ", which only mode constant allows, not ",
                              mode_name(mode)));
  const auto parts = [&] {
    return text("begin ", pads.begin, ", size ", size, ", interior ", pads.interior, ", end ", pads.end);
  };
  const int64_t dilated = dilated_size(size, pads.interior);
  if (beyond(pads.begin) || beyond(pads.end) || (size > 1 && beyond(pads.interior)))
    throw PadError("P10", text("axis ", axis, " (", parts(), ") has amounts beyond ", kLargest));
  const int64_t output = dilated > kLargest ? dilated : pads.begin + dilated + pads.end;
  if (output > kLargest)
    throw PadError("P10", text("axis ", axis, " would have more than ", kLargest, " elements (", parts(), ")"));
  if (output >= 0) return output;
  if (clamp) return 0;
  throw PadError("P1", text("axis ", axis, " would have ", output, " elements (", parts(), ")"));
}

// P10 for the whole output.
void check_elements(const std::vector<int64_t>& outputs) {
  if (std::find(outputs.begin(), outputs.end(), 0) != outputs.end()) return;
  int64_t count = 1;
  for (const int64_t output : outputs) {
    if (output > kLargest / count)
      throw PadError("P10", text("an output of shape ", bracketed(outputs), " has more than ", kLargest, " elements"));
    count *= output;
  }
}

// P4 for one axis and a mode other than constant.
void check_limit(size_t axis, int64_t size, const Amounts& pads, Mode mode, Limit limit) {
  if (limit == Limit::kOpenVINO && (mode == Mode::kReflect || mode == Mode::kSymmetric)) {
    const int64_t max = std::max<int64_t>(mode == Mode::kReflect ? size - 1 : size, 0);
    const auto check = [&](const char* side, int64_t amount) {
      if (amount > max)
        throw PadError("P4", text("axis ", axis, " has ", side, " ", amount, ", but ", mode_name(mode),
                                  " takes at most ", max, " of its ", plural(size, "element")));
    };
    check("begin", pads.begin);
    check("end", pads.end);
  }
  if (limit == Limit::kNGraph && (mode == Mode::kEdge || mode == Mode::kReflect)) {
    const int64_t min = mode == Mode::kEdge ? 1 : 2;
    if (size < min)
      throw PadError("P4", text("axis ", axis, " has ", plural(size, "element"), ", but ", mode_name(mode),
                                " needs at least ", min));
  }
}

[[noreturn]] void throw_nothing_left(size_t axis, int64_t size, const Amounts& pads, Mode mode) {
  const std::string why =
      size == 0 ? std::string("it is empty")
                : text("begin ", pads.begin, " and end ", pads.end, " leave none of its ", plural(size, "element"));
  throw PadError("P5", text("cannot extend axis ", axis, " by ", mode_name(mode), ": ", why));
}

}  // namespace

std::vector<int64_t> Plan::shape() const {
  std::vector<int64_t> dims;
  dims.reserve(axes.size());
  for (const AxisPlan& axis : axes) dims.push_back(axis.output);
  return dims;
}

std::string_view mode_name(Mode mode) {
  constexpr std::string_view kNames[] = {"constant", "edge", "reflect", "symmetric", "wrap"};
  return kNames[static_cast<size_t>(mode)];
}

Plan make_plan(const std::vector<int64_t>& shape, const std::vector<Amounts>& amounts, Mode mode, const Rules& rules) {
  std::vector<int64_t> outputs;
  outputs.reserve(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) outputs.push_back(output_size(i, shape[i], amounts[i], mode, rules.clamp));
  check_elements(outputs);
  const bool empty = std::find(outputs.begin(), outputs.end(), 0) != outputs.end();
  Plan plan{mode, {}};
  plan.axes.reserve(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    const Amounts& pads = amounts[i];
    int64_t start = 0;
    int64_t stop = shape[i];
    if (mode != Mode::kConstant) {
      check_limit(i, shape[i], pads, mode, rules.limit);
      if (rules.crop == Crop::kCrop) {
        start = std::max<int64_t>(-pads.begin, 0);
        stop = shape[i] - std::max<int64_t>(-pads.end, 0);
      }
      if (!empty && stop <= start) throw_nothing_left(i, shape[i], pads, mode);
    }
    // Fewer than two elements have no interior, so a too large interior does not matter; for more, dilated_size has
    // refused it (P10).
    const int64_t interior = shape[i] > 1 ? pads.interior : 0;
    plan.axes.push_back(
        {shape[i], start, std::max<int64_t>(stop - start, 0), pads.begin + start, interior, outputs[i]});
  }
  return plan;
}

std::vector<AxisPlan> merged_axes(const Plan& plan) {
  std::vector<AxisPlan> axes;
  for (const AxisPlan& axis : plan.axes) {
    if (axis.untouched() && axis.size == 1) continue;
    if (axis.untouched() && !axes.empty() && axes.back().untouched()) {
      const int64_t size = axes.back().size * axis.size;
      axes.back() = {size, 0, size, 0, 0, size};
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

}  // namespace padops
