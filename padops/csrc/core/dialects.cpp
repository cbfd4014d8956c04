#include "core/dialects.h"

#include <algorithm>
#include <cctype>

#include "core/amounts.h"
#include "core/text.h"

namespace padops {

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

Mode check_strings(const OpRow& op, const Arguments& node) {
  const auto check = [&](const char* rule, const char* name, const std::vector<std::string>& choices) {
    const std::string& value = node.strings.find(name)->second;
    if (std::find(choices.begin(), choices.end(), value) == choices.end())
      throw PadError(rule, text(name, " '", value, "' is not one of ", joined(choices)));
    return value;
  };
  std::string mode = check("P9", op.mode, op.modes);
  for (const AttributeRow& row : op.attributes)
    if (!row.choices.empty()) check("S1", row.name, row.choices);
  std::transform(mode.begin(), mode.end(), mode.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const Mode known : {Mode::kEdge, Mode::kReflect, Mode::kSymmetric, Mode::kWrap})
    if (mode == mode_name(known)) return known;
  return Mode::kConstant;
}

const std::vector<std::string_view>& integer_types(InputKind kind) {
  static const std::vector<std::string_view> int64 = {"int64"};
  static const std::vector<std::string_view> index = {"int32", "int64"};
  static const std::vector<std::string_view> integer = {"uint8", "int8",  "uint16", "int16",
                                                        "int32", "int64", "uint32", "uint64"};
  switch (kind) {
    case InputKind::kInt64: return int64;
    case InputKind::kIndex: return index;
    default: return integer;
  }
}

namespace {

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
          .mode = "mode",
          .modes = {"constant", "reflect", "edge"},
          .types = types_of(version),
          .fill = "value",
          .rules = {},
          .amounts = pads_attribute};
}

OpRow input_pad(int version) {
  OpRow op{
      .name = text("Pad_", version),
      .inputs = {{"data", InputKind::kData}, {"pads", InputKind::kInt64}, {"constant_value", InputKind::kData, true}},
      .attributes = {{"mode", AttributeKind::kString, false, "constant"}},
      .mode = "mode",
      .modes = {"constant", "reflect", "edge"},
      .types = types_of(version),
      .fill = "constant_value",
      .rules = {},
      .amounts = pads_input};
  if (version >= 18) op.inputs.push_back({"axes", InputKind::kIndex, true});
  if (version >= 19) op.modes.push_back("wrap");
  return op;
}

// OpenVINO Pad 1 and 12 treat a negative output dim differently (P1).
OpRow openvino_pad(int version) {
  return {.name = text("OpenVINOPad_", version),
          .inputs = {{"data", InputKind::kData},
                     {"pads_begin", InputKind::kInteger},
                     {"pads_end", InputKind::kInteger},
                     {"pad_value", InputKind::kData, true}},
          .attributes = {{"pad_mode", AttributeKind::kString, true}},
          .mode = "pad_mode",
          .modes = {"constant", "edge", "reflect", "symmetric"},
          .types = types_of(25),
          .fill = "pad_value",
          .rules = {Crop::kFull, Limit::kOpenVINO, version == 12},
          .amounts = begin_and_end_inputs};
}

OpRow ngraph_pad() {
  return {.name = "NGraphPad_0",
          .inputs = {{"arg", InputKind::kData}, {"arg_pad_value", InputKind::kData}},
          .attributes = {{"pad_mode", AttributeKind::kString, false, "CONSTANT"},
                         {"padding_above", AttributeKind::kInts, true},
                         {"padding_below", AttributeKind::kInts, true},
                         {"padding_interior", AttributeKind::kInts}},
          .mode = "pad_mode",
          .modes = {"CONSTANT", "EDGE", "REFLECT", "SYMMETRIC"},
          .types = types_of(25),
          .fill = "arg_pad_value",
          .rules = {Crop::kFull, Limit::kNGraph, false},
          .amounts = padding_attributes};
}

OpRow same_pad() {
  return {.name = "SamePad_1",
          .inputs = {{"data", InputKind::kData}, {"pad_value", InputKind::kData, true}},
          .attributes =
              {{"auto_pad", AttributeKind::kString, false, "SAME_UPPER", {"SAME_UPPER", "SAME_LOWER", "VALID"}},
               {"data_format", AttributeKind::kString, false, "NCHW", {"NCHW", "NHWC", "NCW", "NWC", "NCDHW", "NDHWC"}},
               {"dilations", AttributeKind::kInts},
               {"kernel_shape", AttributeKind::kInts, true},
               {"mode", AttributeKind::kString, false, "constant"},
               {"strides", AttributeKind::kInts}},
          .mode = "mode",
          .modes = {"constant", "edge", "reflect", "symmetric", "wrap"},
          .types = types_of(25),
          .fill = "pad_value",
          .rules = {Crop::kFull, Limit::kNone, false},
          .amounts = same_attributes};
}

constexpr int kWithInputs[] = {11, 13, 18, 19, 21, 23, 24, 25};

OpRow with_wrap(OpRow op) {
  if (op.modes.back() != "wrap") op.modes.push_back("wrap");
  return op;
}

OpRow microsoft_pad() {
  OpRow op = with_wrap(input_pad(13));
  op.name = "MicrosoftPad_1";
  op.inputs[2].name = "value";
  op.fill = "value";
  return op;
}

}  // namespace

const std::vector<OpRow>& ops() {
  static const std::vector<OpRow> rows = [] {
    std::vector<OpRow> list = {attribute_pad(1, "paddings"), attribute_pad(2, "pads")};
    for (const int version : kWithInputs) list.push_back(input_pad(version));
    for (const int version : {1, 12}) list.push_back(openvino_pad(version));
    list.push_back(ngraph_pad());
    list.push_back(same_pad());
    return list;
  }();
  return rows;
}

const std::vector<StandardOp>& standard_ops() {
  static const std::vector<StandardOp> rows = [] {
    std::vector<StandardOp> list = {{"", 1, attribute_pad(1, "paddings")},
                                    {"", 2, with_wrap(attribute_pad(2, "pads"))}};
    for (const int version : kWithInputs) list.push_back({"", version, with_wrap(input_pad(version))});
    list.push_back({"com.microsoft", 1, microsoft_pad()});
    return list;
  }();
  return rows;
}

}  // namespace padops
