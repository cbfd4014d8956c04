#include "core/amounts.h"

#include <algorithm>
#include <numeric>

#include "core/text.h"

namespace padops {

namespace {

// [begin…, end…] of the listed axes as amounts of every axis (P8).
std::vector<Amounts> pair_up(const char* name, const std::vector<int64_t>& values, const std::vector<int64_t>& axes,
                             const std::string& where, size_t rank) {
  const size_t count = axes.size();
  if (values.size() != 2 * count)
    throw PadError("P8", text(name, " has ", plural(values.size(), "value"), ", expected ", 2 * count, " (2 per axis, ",
                              where, ")"));
  std::vector<Amounts> amounts(rank);
  for (size_t i = 0; i < count; ++i) amounts[axes[i]] = {values[i], values[count + i], 0};
  return amounts;
}

std::vector<int64_t> all_axes(size_t rank) {
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// The axes input as positions from 0 on (P8).
std::vector<int64_t> read_axes(const Integers& given, size_t size) {
  const auto rank = static_cast<int64_t>(size);
  if (given.shape.size() != 1)
    throw PadError("P8", text("axes has shape ", bracketed(given.shape), ", expected one dim"));
  std::vector<int64_t> axes;
  for (const int64_t value : given.values) {
    if (value < -rank || value >= rank)
      throw PadError("P8", text("axes=", bracketed(given.values), " has ", value, ", outside -", rank, "..", rank - 1,
                                " for rank ", rank));
    const int64_t axis = value < 0 ? value + rank : value;
    if (std::find(axes.begin(), axes.end(), axis) != axes.end())
      throw PadError("P8", text("axes=", bracketed(given.values), " names axis ", axis, " twice"));
    axes.push_back(axis);
  }
  return axes;
}

// An integer input of OpenVINO's Pad: one value for each axis (P8).
const std::vector<int64_t>& one_per_axis(const Arguments& node, const char* name, size_t rank) {
  const Integers& given = node.at(name);
  if (given.shape.size() != 1)
    throw PadError("P8", text(name, " has shape ", bracketed(given.shape), ", expected [", rank, "]"));
  if (given.values.size() != rank)
    throw PadError("P8",
                   text(name, " has ", plural(given.values.size(), "value"), ", expected ", rank, " (1 per axis)"));
  return given.values;
}

// The values of a list attribute; if absent, `count` times the neutral value. The runtime returns a list of any other
// type as an empty list, which must not count as absent.
std::vector<int64_t> list_or(const Arguments& node, const char* name, size_t count, int64_t neutral) {
  const Integers* given = node.find(name);
  return given == nullptr ? std::vector<int64_t>(count, neutral) : given->values;
}

}  // namespace

std::vector<Amounts> pads_attribute(const OpRow& op, const Arguments& node, const std::vector<int64_t>& shape) {
  const auto row = std::find_if(op.attributes.begin(), op.attributes.end(),
                                [](const AttributeRow& a) { return a.kind == AttributeKind::kInts; });
  return pair_up(row->name, node.at(row->name).values, all_axes(shape.size()), text("rank ", shape.size()),
                 shape.size());
}

std::vector<Amounts> pads_input(const OpRow&, const Arguments& node, const std::vector<int64_t>& shape) {
  const Integers& pads = node.at("pads");
  const Integers* given = node.find("axes");
  const std::vector<int64_t> axes = given == nullptr ? all_axes(shape.size()) : read_axes(*given, shape.size());
  const bool row = pads.shape.size() == 2 && pads.shape[0] == 1;
  if (pads.shape.size() != 1 && !row)
    throw PadError("P8", text("pads has shape ", bracketed(pads.shape), ", expected [", 2 * axes.size(), "]"));
  const std::string where = given == nullptr ? text("rank ", shape.size()) : text("axes=", bracketed(given->values));
  return pair_up("pads", pads.values, axes, where, shape.size());
}

std::vector<Amounts> begin_and_end_inputs(const OpRow&, const Arguments& node, const std::vector<int64_t>& shape) {
  const std::vector<int64_t>& begins = one_per_axis(node, "pads_begin", shape.size());
  const std::vector<int64_t>& ends = one_per_axis(node, "pads_end", shape.size());
  std::vector<Amounts> amounts;
  for (size_t i = 0; i < shape.size(); ++i) amounts.push_back({begins[i], ends[i], 0});
  return amounts;
}

std::vector<Amounts> padding_attributes(const OpRow&, const Arguments& node, const std::vector<int64_t>& shape) {
  const size_t rank = shape.size();
  const std::vector<int64_t>& below = node.at("padding_below").values;
  const std::vector<int64_t>& above = node.at("padding_above").values;
  const std::vector<int64_t> interior = list_or(node, "padding_interior", rank, 0);
  const auto check = [&](const char* name, const std::vector<int64_t>& values) {
    if (values.size() != rank)
      throw PadError("P8", text(name, " has ", plural(values.size(), "value"), ", expected ", rank, " (1 per axis)"));
  };
  check("padding_below", below);
  check("padding_above", above);
  check("padding_interior", interior);
  std::vector<Amounts> amounts;
  for (size_t i = 0; i < rank; ++i) amounts.push_back({below[i], above[i], interior[i]});
  return amounts;
}

std::vector<Amounts> same_attributes(const OpRow&, const Arguments& node, const std::vector<int64_t>& shape) {
  const std::vector<int64_t>& kernel = node.at("kernel_shape").values;
  const size_t spatial = kernel.size();
  if (shape.size() != spatial + 2)
    throw PadError("S1", text("data has rank ", shape.size(), ", expected ", spatial + 2, " for a kernel_shape of ",
                              plural(spatial, "value")));
  const std::vector<int64_t> strides = list_or(node, "strides", spatial, 1);
  const std::vector<int64_t> dilations = list_or(node, "dilations", spatial, 1);
  const auto check = [&](const char* name, const std::vector<int64_t>& values) {
    if (values.size() != spatial)
      throw PadError(
          "S1", text(name, " has ", plural(values.size(), "value"), ", expected ", spatial, " (1 per spatial axis)"));
    for (const int64_t value : values)
      if (value < 1 || value > kLargest) throw PadError("S1", text(name, " has ", value, ", expected 1 to ", kLargest));
  };
  check("kernel_shape", kernel);
  check("strides", strides);
  check("dilations", dilations);
  const size_t first = node.strings.find("data_format")->second.starts_with("NC") ? 2 : 1;
  std::vector<Amounts> amounts(shape.size());
  for (size_t i = 0; i < spatial; ++i)
    amounts[first + i] =
        same_padding(shape[first + i], kernel[i], strides[i], dilations[i], node.strings.find("auto_pad")->second);
  return amounts;
}

Amounts same_padding(int64_t size, int64_t kernel, int64_t stride, int64_t dilation, std::string_view auto_pad) {
  if (kernel > 1 && dilation > kLargest / (kernel - 1))
    throw PadError("P10", text("a kernel of ", kernel, " with dilation ", dilation, " is beyond ", kLargest));
  if (auto_pad == "VALID") return {};
  const int64_t outputs = size / stride + (size % stride != 0);
  // Subtract the unchecked size before adding the kernel: then no step overflows int64.
  const int64_t total = std::max<int64_t>((outputs - 1) * stride - size + (kernel - 1) * dilation + 1, 0);
  const int64_t small = total / 2;
  const int64_t large = total - small;
  return auto_pad == "SAME_LOWER" ? Amounts{large, small, 0} : Amounts{small, large, 0};
}

}  // namespace padops
