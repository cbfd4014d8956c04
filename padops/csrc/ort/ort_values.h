// What the runtime hands to a kernel, read through its C ABI: tensors, and the attributes of a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dialects.h"
#include "ort_abi.h"

namespace padops {

// Throws std::runtime_error with the runtime's message, and releases the status.
[[noreturn]] void throw_status(const ort::Api& api, ort::Status* status);

// Does so unless the status is OK.
inline void check(const ort::Api& api, ort::Status* status) {
  if (status != nullptr) throw_status(api, status);
}

// The dims and the element type behind a TensorInfo.
struct TensorShape {
  std::vector<int64_t> dims;
  int element_type = ort::kUndefined;
};
TensorShape tensor_shape(const ort::Api& api, const ort::TensorInfo* info);

// Those of a value, read where they lie if onnxruntime 1.`minor` shows them: its other call allocates four times.
class ValueShape {
 public:
  ValueShape(const ort::Api& api, int minor, const ort::Value* value);
  ValueShape(const ValueShape&) = delete;
  ValueShape& operator=(const ValueShape&) = delete;

  std::span<const int64_t> dims() const { return dims_; }
  int element_type() const { return element_type_; }

 private:
  TensorShape copied_;
  std::span<const int64_t> dims_;
  int element_type_ = ort::kUndefined;
};

size_t element_count(std::span<const int64_t> dims);

// The bytes of a tensor that is not one of strings. The runtime has one accessor, for reading and writing.
char* tensor_bytes(const ort::Api& api, const ort::Value* value);

// The strings of a tensor, end to end, and where each begins (one offset more than strings).
struct Strings {
  std::string bytes;
  std::vector<size_t> offsets;
};
Strings read_strings(const ort::Api& api, const ort::Value* value, size_t count);

// The name of an ORT element type, for messages.
std::string type_name(int ort_type);

std::string node_name(const ort::Api& api, const ort::KernelInfo* info);

// Whether the node has an attribute of that name at all, of whatever type.
bool has_attribute(const ort::Api& api, const ort::KernelInfo* info, const char* name);

// Reads one attribute into `node`; false where it has none of that name and type.
bool read_attribute(const ort::Api& api, const ort::KernelInfo* info, const AttributeRow& row, Arguments& node);

}  // namespace padops
