#include "ort/ort_values.h"

#include <cstring>
#include <memory>
#include <numeric>

#include "core/text.h"
#include "ort/status.h"

namespace padops {

namespace {

// Whether the node has an attribute of that name that is not a list. The runtime has no call for that, so each type is
// tried. Lists need another way: the runtime reads a list of the wrong type as empty.
bool has_scalar_attribute(const ort::Api& api, const ort::KernelInfo* info, const char* name) {
  float real = 0;
  int64_t integer = 0;
  size_t size = 0;
  return succeeds(api, api.KernelInfoGetAttribute_float()(info, name, &real)) ||
         succeeds(api, api.KernelInfoGetAttribute_int64()(info, name, &integer)) ||
         succeeds(api, api.KernelInfoGetAttribute_string()(info, name, nullptr, &size));
}

// Whether the node has a list attribute of that name, of integers or floats.
bool has_list_attribute(const ort::Api& api, const ort::KernelInfo* info, const char* name) {
  size_t count = 0;
  return succeeds(api, api.KernelInfoGetAttributeArray_int64()(info, name, nullptr, &count)) ||
         succeeds(api, api.KernelInfoGetAttributeArray_float()(info, name, nullptr, &count));
}

}  // namespace

TensorShape tensor_shape(const ort::Api& api, const ort::TensorInfo* info) {
  TensorShape shape;
  size_t rank = 0;
  check(api, api.GetDimensionsCount()(info, &rank));
  shape.dims.resize(rank);
  check(api, api.GetDimensions()(info, shape.dims.data(), rank));
  check(api, api.GetTensorElementType()(info, &shape.element_type));
  return shape;
}

ValueShape::ValueShape(const ort::Api& api, int minor, const ort::Value* value) {
  if (minor >= ort::kGetTensorElementTypeAndShapeDataReferenceSince) {
    const int64_t* dims = nullptr;
    size_t rank = 0;
    check(api, api.GetTensorElementTypeAndShapeDataReference()(value, &element_type_, &dims, &rank));
    dims_ = {dims, rank};
    return;
  }
  ort::TensorInfo* info = nullptr;
  check(api, api.GetTensorTypeAndShape()(value, &info));
  const std::unique_ptr<ort::TensorInfo, void (*)(ort::TensorInfo*)> held(info, api.ReleaseTensorTypeAndShapeInfo());
  copied_ = tensor_shape(api, info);
  dims_ = copied_.dims;
  element_type_ = copied_.element_type;
}

size_t element_count(std::span<const int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), size_t{1}, std::multiplies<>());
}

char* tensor_bytes(const ort::Api& api, const ort::Value* value) {
  void* bytes = nullptr;
  check(api, api.GetTensorMutableData()(const_cast<ort::Value*>(value), &bytes));
  return static_cast<char*>(bytes);
}

Strings read_strings(const ort::Api& api, const ort::Value* value, size_t count) {
  Strings strings;
  size_t size = 0;
  check(api, api.GetStringTensorDataLength()(value, &size));
  strings.bytes.reserve(size + count);  // end_with_zeros() needs no other memory
  strings.bytes.resize(size);
  strings.offsets.reserve(count + 1);
  strings.offsets.resize(count);
  if (count > 0)
    check(api, api.GetStringTensorContent()(value, strings.bytes.data(), size, strings.offsets.data(), count));
  strings.offsets.push_back(size);
  return strings;
}

std::vector<const char*> end_with_zeros(Strings& strings) {
  const size_t count = strings.offsets.size() - 1;
  std::vector<const char*> begins(count);
  strings.bytes.resize(strings.bytes.size() + count);
  char* bytes = strings.bytes.data();
  for (size_t i = count; i-- > 0;) {  // the last string first, so that each moves into free room
    const size_t size = strings.offsets[i + 1] - strings.offsets[i];
    char* begin = bytes + strings.offsets[i] + i;
    std::memmove(begin, bytes + strings.offsets[i], size);
    begin[size] = '\0';
    begins[i] = begin;
  }
  return begins;
}

std::string type_name(int ort_type) {
  const TypeRow* type = type_of_ort(ort_type);
  return type == nullptr ? text("element type ", ort_type) : type->name;
}

std::string node_name(const ort::Api& api, const ort::KernelInfo* info) {
  size_t size = 0;
  check(api, api.KernelInfo_GetNodeName()(info, nullptr, &size));
  std::string name(size, '\0');
  check(api, api.KernelInfo_GetNodeName()(info, name.data(), &size));
  name.resize(size == 0 ? 0 : size - 1);  // the size counts the final 0
  return name;
}

bool has_attribute(const ort::Api& api, const ort::KernelInfo* info, const char* name) {
  return has_scalar_attribute(api, info, name) || has_list_attribute(api, info, name);
}

bool read_attribute(const ort::Api& api, const ort::KernelInfo* info, const AttributeRow& row, Arguments& node) {
  switch (row.kind) {
    case AttributeKind::kInts: {
      size_t count = 0;
      if (!succeeds(api, api.KernelInfoGetAttributeArray_int64()(info, row.name, nullptr, &count))) return false;
      if (count == 0 && has_scalar_attribute(api, info, row.name)) return false;
      Integers& list = node.integers[row.name];
      list.values.resize(count);
      list.shape = {static_cast<int64_t>(count)};
      if (count > 0) check(api, api.KernelInfoGetAttributeArray_int64()(info, row.name, list.values.data(), &count));
      return true;
    }
    case AttributeKind::kFloat:
      return succeeds(api, api.KernelInfoGetAttribute_float()(info, row.name, &node.floats[row.name]));
    case AttributeKind::kString: {
      size_t size = 0;
      if (!succeeds(api, api.KernelInfoGetAttribute_string()(info, row.name, nullptr, &size))) return false;
      std::string& value = node.strings[row.name];
      value.resize(size);
      check(api, api.KernelInfoGetAttribute_string()(info, row.name, value.data(), &size));
      value.resize(size == 0 ? 0 : size - 1);
      return true;
    }
  }
  return false;
}

}  // namespace padops
