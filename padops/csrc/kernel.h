// One node in one session: what it was given at creation, and its computation. The only place, with register.cpp, that
// talks to ONNX Runtime.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dialects.h"
#include "engine.h"
#include "ort_abi.h"

namespace padops {

// An element as bytes: sub-byte types unpacked into one, strings as they are.
using Element = std::string;

class Kernel {
 public:
  // Reads the attributes and the inputs that are constant. Throws PadError, or std::runtime_error where the runtime
  // refuses a call.
  Kernel(const ort::Api& api, const ort::KernelInfo* info, const OpRow& op, const TypeRow& type);

  // Computes the output. Throws as the constructor does.
  void compute(ort::KernelContext* context) const;

  const ort::Api& api() const { return api_; }

  // "padops::Pad_18 'decoder/pad': " before what went wrong.
  std::string explain(const std::string& what) const;

 private:
  void read_attributes(const ort::KernelInfo* info);
  void read_constants(const ort::KernelInfo* info);
  void read_integers(Arguments& node, const InputRow& row, const ort::Value* value) const;
  Element read_fill(const ort::Value* value) const;
  Element value_attribute() const;
  void move_bytes(const ort::KernelContext* context, const Plan& plan, const ort::Value* data, ort::Value* output,
                  const Element& fill) const;
  void move_packed(const ort::KernelContext* context, const Plan& plan, const ort::Value* data, ort::Value* output,
                   const Element& fill) const;
  void move_strings(const Plan& plan, const ort::Value* data, ort::Value* output, const Element& fill) const;
  void execute(const ort::KernelContext* context, const Engine& engine, const char* source, char* output,
               const Element& fill) const;

  const ort::Api& api_;
  const OpRow& op_;
  const TypeRow& type_;
  std::string name_;
  Mode mode_ = Mode::kConstant;
  Arguments constant_;                  // attributes, and the integer inputs that never change
  std::optional<Element> constant_fill_;
};

// Throws std::runtime_error with the runtime's message unless the status is OK, and releases it.
void check(const ort::Api& api, ort::Status* status);

// The dims and the element type behind a TensorInfo.
struct TensorShape {
  std::vector<int64_t> dims;
  int element_type;
};
TensorShape tensor_shape(const ort::Api& api, const ort::TensorInfo* info);

}  // namespace padops
