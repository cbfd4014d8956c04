// Reads a kernel's tensors and a node's attributes from the runtime. Every function throws std::runtime_error if the
// runtime refuses a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/dialects.h"
#include "ort/ort_abi.h"

namespace padops {

// The dims and the element type behind a TensorInfo.
struct TensorShape {
  std::vector<int64_t> dims;
  int element_type = ort::kUndefined;
  bool has_rank = true;
};
TensorShape tensor_shape(const ort::Api& api, const ort::TensorInfo* info);

// The dims and the element type of a value, without a copy if onnxruntime 1.`minor` has a call for that; the older call
// allocates four times.
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

// The bytes of a tensor that has no strings. The runtime has one call for reading and writing.
char* tensor_bytes(const ort::Api& api, const ort::Value* value);

// The strings of a tensor one after the other, with the offset of each, and the end of the last.
struct Strings {
  std::string bytes;
  std::vector<size_t> offsets;
};
Strings read_strings(const ort::Api& api, const ort::Value* value, size_t count);

// Puts a 0 after each string, none of which contains a 0, and returns the begin of each; the offsets become invalid.
std::vector<const char*> end_with_zeros(Strings& strings);

// The name of an ORT element type, for messages.
std::string type_name(int ort_type);

std::string node_name(const ort::Api& api, const ort::KernelInfo* info);

// Whether the node has an attribute of that name, of any type.
bool has_attribute(const ort::Api& api, const ort::KernelInfo* info, const char* name);

// Reads one attribute into `node`; returns false if the node has none of that name and type.
bool read_attribute(const ort::Api& api, const ort::KernelInfo* info, const AttributeRow& row, Arguments& node);

}  // namespace padops
