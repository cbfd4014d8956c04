#include "ort/node_reader.h"

#include <algorithm>

#include "ort/ort_values.h"
#include "ort/pad_node.h"
#include "ort/status.h"

namespace padops {

std::string KernelNode::name() const { return node_name(api_, info_); }

bool KernelNode::has_attribute(const char* name) const { return padops::has_attribute(api_, info_, name); }

bool KernelNode::read_attribute(const AttributeRow& row, Arguments& node) const {
  return padops::read_attribute(api_, info_, row, node);
}

std::vector<std::optional<size_t>> KernelNode::places() const {
  size_t count = 0;
  check(api_, api_.KernelInfo_GetInputCount()(info_, &count));
  std::vector<std::optional<size_t>> places(count);
  for (size_t i = 0; i < count; ++i) places[i] = i;
  return places;
}

const ort::Value* KernelNode::constant(size_t input) const {
  int is_constant = 0;
  const ort::Value* value = nullptr;
  check(api_, api_.KernelInfoGetConstantInput_tensor()(info_, input, &is_constant, &value));
  return is_constant != 0 ? value : nullptr;
}

CompiledNode::CompiledNode(const ort::Api& api, const ort::Node* node, const ort::Node* fused)
    : api_(api), node_(node), fused_(fused), inputs_(node_inputs(api, node)) {}

std::string CompiledNode::name() const { return name_of(api_, node_); }

bool CompiledNode::has_attribute(const char* name) const { return attribute(api_, node_, name) != nullptr; }

bool CompiledNode::read_attribute(const AttributeRow& row, Arguments& node) const {
  if (row.kind == AttributeKind::kInts) return read_list(api_, node_, row.name, node);
  const ort::OpAttr* found = attribute(api_, node_, row.name);
  if (found == nullptr) return false;
  size_t bytes = 0;
  if (row.kind == AttributeKind::kFloat)
    return succeeds(api_, api_.ReadOpAttr()(found, ort::kFloat, &node.floats[row.name], sizeof(float), &bytes));
  std::string& value = node.strings[row.name];
  if (succeeds(api_, api_.ReadOpAttr()(found, ort::kString, nullptr, 0, &bytes))) bytes = 0;  // the call sets the size
  value.resize(bytes);
  if (!succeeds(api_, api_.ReadOpAttr()(found, ort::kString, value.data(), bytes, &bytes))) return false;
  value.resize(std::min(value.size(), std::string_view(value.c_str()).size()));  // the size may count a final 0
  return true;
}

std::vector<std::optional<size_t>> CompiledNode::places() const {
  std::vector<std::string> given;
  for (const ort::ValueInfo* value : node_inputs(api_, fused_)) given.push_back(value_name(value));
  std::vector<std::optional<size_t>> places(inputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] == nullptr) continue;
    const auto found = std::ranges::find(given, value_name(inputs_[i]));
    if (found != given.end()) places[i] = static_cast<size_t>(found - given.begin());
  }
  return places;
}

const ort::Value* CompiledNode::constant(size_t input) const {
  return inputs_[input] == nullptr ? nullptr : constant_of(api_, inputs_[input]);
}

std::string CompiledNode::value_name(const ort::ValueInfo* value) const {
  const char* name = nullptr;
  check(api_, api_.GetValueInfoName()(value, &name));
  return name;
}

}  // namespace padops
