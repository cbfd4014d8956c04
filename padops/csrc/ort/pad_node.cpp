#include "ort/pad_node.h"

#include <algorithm>
#include <string_view>

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
  if (type != nullptr) check(api, api.CastTypeInfoToTensorInfo()(type, &tensor));
  TensorShape shape = tensor == nullptr ? TensorShape() : tensor_shape(api, tensor);
  shape.has_rank = tensor != nullptr && api.TensorTypeAndShape_HasShape()(tensor);
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
  if (succeeds(api, api.ReadOpAttr()(found, ort::kInts, nullptr, 0, &bytes))) bytes = 0;  // it tells the size and fails
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

// The number of elements of the fill that a node has as an input; nothing where it has none, or that is not known.
std::optional<size_t> fill_elements(const ort::Api& api, const std::vector<const ort::ValueInfo*>& inputs) {
  if (inputs.size() < 3 || inputs[2] == nullptr) return std::nullopt;
  const TensorShape fill = value_shape(api, inputs[2]);
  if (!fill.has_rank || std::ranges::any_of(fill.dims, [](int64_t dim) { return dim < 0; })) return std::nullopt;
  return element_count(fill.dims);
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
  facts.fill = fill_elements(api, inputs);
  if (!data.has_rank) return facts;
  facts.dims = data.dims;
  Arguments arguments;
  if (!read_amounts(api, minor, node, row.op, arguments)) return facts;
  try {
    facts.amounts = row.op.amounts(row.op, arguments, data.dims);
  } catch (const PadError&) {  // our kernel says what is wrong, if it comes to that
  }
  return facts;
}

}  // namespace padops
