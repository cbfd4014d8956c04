#include "dialects.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "text.h"

namespace padops {

const std::vector<TypeRow>& types() {
  static const std::vector<TypeRow> rows = {
#define PADOPS_TYPE(name, onnx, ort, bits, pad, since) {name, onnx, ort, bits, pad, since},
#include "types.inc"
#undef PADOPS_TYPE
  };
  return rows;
}

const Integers* Arguments::find(std::string_view name) const {
  const auto found = integers.find(name);
  return found == integers.end() ? nullptr : &found->second;
}

const Integers& Arguments::at(std::string_view name) const {
  const Integers* found = find(name);
  if (found == nullptr) throw PadError("P8", text("input ", name, " is required"));
  return *found;
}

std::optional<size_t> OpRow::input_index(std::string_view input) const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (input == inputs[i].name) return i;
  return std::nullopt;
}

Mode parse_mode(const OpRow& op, const std::string& mode) {
  if (std::find(op.modes.begin(), op.modes.end(), mode) == op.modes.end())
    throw PadError("P9", text("mode '", mode, "' is not one of ", joined(op.modes)));
  std::string name = mode;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const Mode known : {Mode::kEdge, Mode::kReflect, Mode::kSymmetric, Mode::kWrap})
    if (name == mode_name(known)) return known;
  return Mode::kConstant;
}

const char* integer_types(InputKind kind) { return kind == InputKind::kInt64 ? "int64" : "int32 or int64"; }

namespace {

// [begin…, end…] of the listed axes as amounts of every axis (P8).
std::vector<Amounts> pair_up(const char* name, const std::vector<int64_t>& values, const std::vector<int64_t>& axes,
                             const std::string& where, size_t rank) {
  const size_t count = axes.size();
  if (values.size() != 2 * count)
    throw PadError("P8", text(name, " has ", values.size(), " values, expected ", 2 * count, " (2 per axis, ", where,
                              ")"));
  std::vector<Amounts> amounts(rank);
  for (size_t i = 0; i < count; ++i) amounts[axes[i]] = {values[i], values[count + i], 0};
  return amounts;
}

std::vector<int64_t> all_axes(size_t rank) {
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// ONNX Pad 1 and 2: the amounts stand in an attribute, which is all that these two have of integers.
std::vector<Amounts> pads_attribute(const OpRow&, const Arguments& node, const std::vector<int64_t>& shape) {
  const auto& [name, pads] = *node.integers.begin();
  return pair_up(name.c_str(), pads.values, all_axes(shape.size()), text("rank ", shape.size()), shape.size());
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

// ONNX Pad 11 and later: the amounts are an input, from 18 on for the axes that another input lists.
std::vector<Amounts> pads_input(const OpRow&, const Arguments& node, const std::vector<int64_t>& shape) {
  const Integers& pads = node.at("pads");
  const Integers* given = node.find("axes");
  const std::vector<int64_t> axes = given == nullptr ? all_axes(shape.size()) : read_axes(*given, shape.size());
  const bool row = pads.shape.size() == 2 && pads.shape[0] == 1;
  if (pads.shape.size() != 1 && !row)
    throw PadError("P8", text("pads has shape ", bracketed(pads.shape), ", expected [", 2 * axes.size(), "]"));
  const std::string where =
      given == nullptr ? text("rank ", shape.size()) : text("axes=", bracketed(given->values));
  return pair_up("pads", pads.values, axes, where, shape.size());
}

std::vector<const TypeRow*> types_of(int version) {
  std::vector<const TypeRow*> rows;
  for (const TypeRow& row : types())
    if (row.pad <= version) rows.push_back(&row);
  return rows;
}

OpRow attribute_pad(int version, const char* pads) {
  return {.name = text("Pad_", version),
          .inputs = {{"data", InputKind::kData}},
          .attributes = {{"mode", AttributeKind::kString, false, "constant"},
                         {pads, AttributeKind::kInts, true},
                         {"value", AttributeKind::kFloat}},
          .modes = {"constant", "reflect", "edge"},
          .types = types_of(version),
          .fill = "value",
          .rules = {},
          .amounts = pads_attribute};
}

OpRow input_pad(int version) {
  OpRow op{.name = text("Pad_", version),
           .inputs = {{"data", InputKind::kData},
                      {"pads", InputKind::kInt64},
                      {"constant_value", InputKind::kData, true}},
           .attributes = {{"mode", AttributeKind::kString, false, "constant"}},
           .modes = {"constant", "reflect", "edge"},
           .types = types_of(version),
           .fill = "constant_value",
           .rules = {},
           .amounts = pads_input};
  if (version >= 18) op.inputs.push_back({"axes", InputKind::kIndex, true});
  if (version >= 19) op.modes.push_back("wrap");
  return op;
}

}  // namespace

const std::vector<OpRow>& ops() {
  static const std::vector<OpRow> rows = [] {
    std::vector<OpRow> list = {attribute_pad(1, "paddings"), attribute_pad(2, "pads")};
    for (const int version : {11, 13, 18, 19, 21, 23, 24, 25}) list.push_back(input_pad(version));
    return list;
  }();
  return rows;
}

}  // namespace padops
