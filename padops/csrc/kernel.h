// One node in one session: what it was given at creation, and its computation. With ort_values, inference and
// register.cpp it is what talks to ONNX Runtime.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dialects.h"
#include "engine.h"
#include "ort_abi.h"

namespace padops {

// An element as bytes: sub-byte types in the low bits of one, strings as they are.
using Element = std::string;

// A plan ready to run, and what it was made for.
struct Prepared {
  std::vector<int64_t> key;  // the shape of the data and the integer inputs that are not constant
  Plan plan;
  std::vector<int64_t> dims;  // of the output
  std::optional<Engine> engine;  // none for strings
};

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
  Integers read_integers(const InputRow& row, const ort::Value* value) const;
  Element read_fill(const ort::Value* value) const;
  Element value_attribute() const;
  std::shared_ptr<const Prepared> prepare(std::vector<int64_t> key,
                                          std::vector<std::pair<const InputRow*, Integers>> integers) const;
  void run_engine(const ort::KernelContext* context, const Engine& engine, const ort::Value* data,
                  ort::Value* output, const Element& fill) const;
  void move_strings(const Plan& plan, const ort::Value* data, ort::Value* output, const Element& fill) const;

  const ort::Api& api_;
  const OpRow& op_;
  const TypeRow& type_;
  std::string name_;
  Mode mode_ = Mode::kConstant;
  Arguments constant_;                  // attributes, and the integer inputs that never change
  std::optional<Element> constant_fill_;
  mutable std::mutex mutex_;                        // a kernel may compute in several threads at once
  mutable std::shared_ptr<const Prepared> latest_;  // shapes mostly repeat
};

}  // namespace padops
