#include "ort/builtin_pad.h"

#include <algorithm>
#include <string_view>

#include "ort/ort_values.h"
#include "ort/status.h"

namespace padops {

namespace {

// Data types of the runtime's kernels that move every bit, and the first Pad that has them.
constexpr struct {
  std::string_view name;
  int version;
} kKernels[] = {{"float", 2},  {"double", 2}, {"int8", 11},   {"int32", 11}, {"int64", 11},
                {"uint8", 11}, {"bool", 13},  {"uint32", 11}, {"uint64", 11}};

// The casts of float16 begin with Pad 11: before, the runtime rounds an attribute's value at another time, and cannot
// load a model of the first opsets.
bool has_kernel(std::string_view type, const StandardOp& row, bool casts) {
  if (casts && type == "float16" && row.version >= 11) type = "float";
  if (*row.domain != '\0') return type == "float";
  return std::ranges::any_of(kKernels,
                             [&](const auto& kernel) { return kernel.name == type && kernel.version <= row.version; });
}

// The dims and the type of a value; no dims at all where the runtime does not tell the rank.
TensorShape value_shape(const ort::Api& api, const ort::ValueInfo* value) {
  const ort::TypeInfo* type = nullptr;
  const ort::TensorInfo* tensor = nullptr;
  check(api, api.GetValueInfoTypeInfo()(value, &type));
  if (type == nullptr) return {};
  check(api, api.CastTypeInfoToTensorInfo()(type, &tensor));
  return tensor == nullptr ? TensorShape() : tensor_shape(api, tensor);
}

std::vector<const ort::ValueInfo*> node_inputs(const ort::Api& api, const ort::Node* node) {
  size_t count = 0;
  check(api, api.Node_GetNumInputs()(node, &count));
  std::vector<const ort::ValueInfo*> inputs(count);
  check(api, api.Node_GetInputs()(node, inputs.data(), count));
  return inputs;
}

// An attribute of a node, or null.
const ort::OpAttr* attribute(const ort::Api& api, const ort::Node* node, const char* name) {
  const ort::OpAttr* found = nullptr;
  return succeeds(api, api.Node_GetAttributeByName()(node, name, &found)) ? found : nullptr;
}

// The mode's name; empty where it is none of ours.
std::string mode_of(const ort::Api& api, const ort::Node* node) {
  const ort::OpAttr* found = attribute(api, node, "mode");
  if (found == nullptr) return "constant";
  std::string name(16, '\0');
  size_t size = 0;
  if (!succeeds(api, api.ReadOpAttr()(found, ort::kString, name.data(), name.size(), &size))) return "";
  name.resize(std::min(size, name.size()));
  name.resize(std::string_view(name.c_str()).size());  // the size may count a final 0
  return name;
}

bool read_list(const ort::Api& api, const ort::Node* node, const char* name, Arguments& arguments) {
  const ort::OpAttr* found = attribute(api, node, name);
  if (found == nullptr) return false;
  size_t bytes = 0;
  if (succeeds(api, api.ReadOpAttr()(found, ort::kInts, nullptr, 0, &bytes))) bytes = 0;  // it tells the size and fails
  std::vector<int64_t> values(bytes / sizeof(int64_t));
  if (!succeeds(api, api.ReadOpAttr()(found, ort::kInts, values.data(), bytes, &bytes))) return false;
  const auto count = static_cast<int64_t>(values.size());
  arguments.integers[name] = {std::move(values), {count}};
  return true;
}

bool read_constant(const ort::Api& api, int minor, const ort::ValueInfo* input, const char* name, Arguments& node) {
  bool constant = false;
  const ort::Value* value = nullptr;
  check(api, api.ValueInfo_IsConstantInitializer()(input, &constant));
  if (!constant || !succeeds(api, api.ValueInfo_GetInitializerValue()(input, &value)) || value == nullptr) return false;
  const ValueShape shape(api, minor, value);
  if (type_name(shape.element_type()) != "int64") return false;  // the runtime refuses constant axes of int32
  const auto* values = reinterpret_cast<const int64_t*>(tensor_bytes(api, value));
  node.integers[name] = {{values, values + element_count(shape.dims())}, {shape.dims().begin(), shape.dims().end()}};
  return true;
}

// Amounts and axes, as far as they are constant; false where one of them is not.
bool read_amounts(const ort::Api& api, int minor, const ort::Node* node, const OpRow& op, Arguments& arguments) {
  for (const AttributeRow& row : op.attributes)
    if (row.kind == AttributeKind::kInts && !read_list(api, node, row.name, arguments)) return false;
  const std::vector<const ort::ValueInfo*> inputs = node_inputs(api, node);
  for (size_t i = 1; i < std::min(inputs.size(), op.inputs.size()); ++i)
    if (op.inputs[i].kind != InputKind::kData && inputs[i] != nullptr &&
        !read_constant(api, minor, inputs[i], op.inputs[i].name, arguments))
      return false;
  return true;
}

// One axis of another mode than constant. The runtime refuses more than one period of a known size, axes that are empty
// or cropped to nothing, and reads outside the data in some releases where amounts of both signs meet.
bool axis_is_right(const std::string& mode, int64_t size, const Amounts& amounts) {
  if (amounts.begin == 0 && amounts.end == 0) return size != 0;
  if (amounts.begin < 0 || amounts.end < 0 || size <= 0) return false;
  return mode == "edge" || std::max(amounts.begin, amounts.end) <= (mode == "reflect" ? size - 1 : size);
}

}  // namespace

int data_type(const ort::Api& api, const ort::Node* node) {
  const std::vector<const ort::ValueInfo*> inputs = node_inputs(api, node);
  return inputs.empty() || inputs[0] == nullptr ? ort::kUndefined : value_shape(api, inputs[0]).element_type;
}

bool builtin_is_right(const ort::Api& api, int minor, const ort::Node* node, const StandardOp& row, bool casts) {
  const std::vector<const ort::ValueInfo*> inputs = node_inputs(api, node);
  if (inputs.empty() || inputs[0] == nullptr) return false;
  const TensorShape data = value_shape(api, inputs[0]);
  if (!has_kernel(type_name(data.element_type), row, casts) || data.dims.empty()) return false;
  const std::string mode = mode_of(api, node);
  if (mode == "constant") return true;
  Arguments arguments;
  if (std::ranges::find(row.op.modes, mode) == row.op.modes.end()) return false;
  if (!read_amounts(api, minor, node, row.op, arguments)) return false;
  try {
    const std::vector<Amounts> amounts = row.op.amounts(row.op, arguments, data.dims);
    for (size_t i = 0; i < amounts.size(); ++i)
      if (!axis_is_right(mode, data.dims[i], amounts[i])) return false;
    return true;
  } catch (const PadError&) {
    return false;  // our kernel says what is wrong
  }
}

}  // namespace padops
