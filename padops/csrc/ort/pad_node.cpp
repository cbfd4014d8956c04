#include "ort/pad_node.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ort/status.h"

namespace padops {

const StandardOp* find_standard_op(const ort::Api& api, const ort::Node* node) {
  const char* name = nullptr;
  const char* domain = nullptr;
  int version = 0;
  check(api, api.Node_GetOperatorType()(node, &name));
  if (std::string_view(name) != "Pad") return nullptr;
  check(api, api.Node_GetDomain()(node, &domain));
  check(api, api.Node_GetSinceVersion()(node, &version));
  for (const StandardOp& row : standard_ops())
    if (row.version == version && std::string_view(row.domain) == domain) return &row;
  return nullptr;
}

std::string name_of(const ort::Api& api, const ort::Node* node) {
  const char* name = nullptr;
  check(api, api.Node_GetName()(node, &name));
  return name;
}

TensorShape value_shape(const ort::Api& api, const ort::ValueInfo* value) {
  const ort::TypeInfo* type = nullptr;
  const ort::TensorInfo* tensor = nullptr;
  check(api, api.GetValueInfoTypeInfo()(value, &type));
  TensorShape shape;
  shape.has_rank = false;
  if (type == nullptr) return shape;
  check(api, api.CastTypeInfoToTensorInfo()(type, &tensor));
  if (tensor == nullptr) return shape;
  shape = tensor_shape(api, tensor);
  shape.has_rank = api.TensorTypeAndShape_HasShape()(tensor);
  return shape;
}

std::vector<const ort::ValueInfo*> node_inputs(const ort::Api& api, const ort::Node* node) {
  size_t count = 0;
  check(api, api.Node_GetNumInputs()(node, &count));
  std::vector<const ort::ValueInfo*> inputs(count);
  check(api, api.Node_GetInputs()(node, inputs.data(), count));
  return inputs;
}

int data_type(const ort::Api& api, const ort::Node* node) {
  const std::vector<const ort::ValueInfo*> inputs = node_inputs(api, node);
  return inputs.empty() || inputs[0] == nullptr ? ort::kUndefined : value_shape(api, inputs[0]).element_type;
}

const ort::OpAttr* attribute(const ort::Api& api, const ort::Node* node, const char* name) {
  const ort::OpAttr* found = nullptr;
  return succeeds(api, api.Node_GetAttributeByName()(node, name, &found)) ? found : nullptr;
}

const ort::Value* constant_of(const ort::Api& api, const ort::ValueInfo* value) {
  bool constant = false;
  const ort::Value* found = nullptr;
  check(api, api.ValueInfo_IsConstantInitializer()(value, &constant));
  return constant && succeeds(api, api.ValueInfo_GetInitializerValue()(value, &found)) ? found : nullptr;
}

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
  if (succeeds(api, api.ReadOpAttr()(found, ort::kInts, nullptr, 0, &bytes))) bytes = 0;  // sets the size and fails
  std::vector<int64_t> values(bytes / sizeof(int64_t));
  if (!succeeds(api, api.ReadOpAttr()(found, ort::kInts, values.data(), bytes, &bytes))) return false;
  const auto count = static_cast<int64_t>(values.size());
  arguments.integers[name] = {std::move(values), {count}};
  return true;
}

namespace {

bool read_constant(const ort::Api& api, int minor, const ort::ValueInfo* input, const char* name, Arguments& node) {
  const ort::Value* value = constant_of(api, input);
  if (value == nullptr) return false;
  const ValueShape shape(api, minor, value);
  if (type_name(shape.element_type()) != "int64") return false;  // the runtime refuses constant axes of int32
  const auto* values = reinterpret_cast<const int64_t*>(tensor_bytes(api, value));
  node.integers[name] = {{values, values + element_count(shape.dims())}, {shape.dims().begin(), shape.dims().end()}};
  return true;
}

}  // namespace

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

namespace {

// Whether a float changes the fill: a number of more than 24 bits, an unsigned number of 32 bits, or a negative zero.
template <class Number>
bool is_rounded(const char* bytes) {
  Number number;
  std::memcpy(&number, bytes, sizeof(number));
  const auto as_double = static_cast<double>(number);
  if (as_double == 0) return std::signbit(as_double);
  if (std::is_floating_point_v<Number>) return false;
  constexpr double kEnd = 2147483648.0;  // numbers beyond signed 32 bits do not survive, either
  return static_cast<double>(static_cast<float>(as_double)) != as_double || as_double < -kEnd || as_double >= kEnd;
}

bool is_rounded(const std::string& type, const char* bytes) {
  if (type == "float") return is_rounded<float>(bytes);
  if (type == "int32") return is_rounded<int32_t>(bytes);
  if (type == "uint32") return is_rounded<uint32_t>(bytes);
  if (type == "int64") return is_rounded<int64_t>(bytes);
  if (type == "float16") return bytes[0] == 0 && static_cast<unsigned char>(bytes[1]) == 128;
  return false;
}

// Known facts of the axes of a Pad with that input.
void read_axes(const ort::Api& api, int minor, const std::vector<const ort::ValueInfo*>& inputs, PadFacts& facts) {
  const auto rank = static_cast<int64_t>(facts.dims->size());
  Arguments arguments;
  if (!read_constant(api, minor, inputs[3], "axes", arguments)) {
    const TensorShape pads = value_shape(api, inputs[1]);
    if (pads.has_rank && !pads.dims.empty() && pads.dims.back() >= 0 && pads.dims.back() != 2 * rank)
      facts.has_all_axes = false;
    return;
  }
  std::vector<int64_t> all(facts.dims->size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<int64_t> axes = arguments.integers["axes"].values;
  for (int64_t& axis : axes)
    if (axis < 0) axis += rank;
  std::vector<int64_t> in_order = axes;
  std::ranges::sort(in_order);
  facts.has_all_axes = in_order == all;
  if (*facts.has_all_axes) facts.axes = std::move(axes);
}

FillFacts fill_attribute(const ort::Api& api, const ort::Node* node, const std::string& type) {
  const ort::OpAttr* found = attribute(api, node, "value");
  FillFacts facts;
  float value = 0;
  size_t size = 0;
  if (found == nullptr || !succeeds(api, api.ReadOpAttr()(found, ort::kFloat, &value, sizeof(value), &size)))
    return facts;
  facts.is_rounded = value == 0 && std::signbit(value);
  constexpr float kLargestFloat16 = 65504;
  facts.is_endless_value = !std::isfinite(value) || (type == "float16" && std::abs(value) > kLargestFloat16);
  return facts;
}

FillFacts fill_input(const ort::Api& api, int minor, const ort::ValueInfo* input) {
  FillFacts facts;
  facts.is_input = true;
  const ort::Value* value = constant_of(api, input);
  if (value == nullptr) {
    const TensorShape shape = value_shape(api, input);
    facts.is_computed = true;
    if (shape.has_rank) facts.dims = shape.dims;
    else facts.dims.reset();
    return facts;
  }
  const ValueShape shape(api, minor, value);
  facts.dims = {shape.dims().begin(), shape.dims().end()};
  const std::string type = type_name(shape.element_type());
  facts.is_rounded = element_count(shape.dims()) == 1 && type != "string" && is_rounded(type, tensor_bytes(api, value));
  return facts;
}

}  // namespace

PadFacts pad_facts(const ort::Api& api, int minor, const ort::Node* node, const StandardOp& row) {
  PadFacts facts;
  const std::vector<const ort::ValueInfo*> inputs = node_inputs(api, node);
  facts.mode = mode_of(api, node);
  facts.version = row.version;
  facts.has_axes = inputs.size() > 3 && inputs[3] != nullptr;
  if (inputs.empty() || inputs[0] == nullptr) return facts;
  const TensorShape data = value_shape(api, inputs[0]);
  facts.type = type_name(data.element_type);
  if (inputs.size() > 2 && inputs[2] != nullptr) facts.fill = fill_input(api, minor, inputs[2]);
  else if (row.version < 11) facts.fill = fill_attribute(api, node, facts.type);
  if (!data.has_rank) return facts;
  facts.dims = data.dims;
  if (facts.has_axes) read_axes(api, minor, inputs, facts);
  Arguments arguments;
  if (!read_amounts(api, minor, node, row.op, arguments)) return facts;
  try {
    facts.amounts = row.op.amounts(row.op, arguments, data.dims);
  } catch (const PadError&) {  // our kernel reports the error if it runs
  }
  return facts;
}

}  // namespace padops
