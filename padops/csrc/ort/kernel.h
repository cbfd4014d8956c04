// One node in one session: its constant arguments, and its computation.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dialects.h"
#include "core/engine.h"
#include "core/sharing.h"
#include "ort/node_reader.h"
#include "ort/ort_abi.h"
#include "ort/ort_values.h"

namespace padops {

// An element as bytes. A sub-byte element is in the low bits of a byte; a string is its own bytes.
using Element = std::string;

// An integer input of an earlier run; empty if absent.
struct Seen {
  std::vector<int64_t> dims;
  std::string bytes;
};

// A plan ready to run, and the data shape and inputs for which it was made.
struct Prepared {
  std::vector<int64_t> shape;  // of the data
  std::vector<Seen> seen;      // the integer inputs that are not constant
  Plan plan;
  std::vector<int64_t> dims;     // of the output
  std::optional<Engine> engine;  // made after the plan
  mutable std::optional<Sharing> sharing;
};

// The memory that the engine reads and writes.
struct Places {
  const char* source;
  char* output;
  const char* fill;
};

class Kernel {
 public:
  // Reads the attributes and constant inputs, in onnxruntime 1.`minor`. If `alone`, the kernel never shares its work
  // with the runtime's threads. Throws PadError, or std::runtime_error if the runtime refuses a call.
  Kernel(const ort::Api& api, int minor, const NodeReader& node, const OpRow& op, const TypeRow& type,
         bool alone = false);

  // Computes the output. Throws as the constructor does.
  void compute(ort::KernelContext* context) const;

  const ort::Api& api() const { return api_; }

  // "padops::Pad_18 'decoder/pad': ", the prefix of every message.
  std::string label() const;

  // The message if there is no memory, not even for a message.
  const char* out_of_memory() const { return out_of_memory_.c_str(); }

 private:
  void read_attributes(const NodeReader& node);
  void read_inputs(const NodeReader& node);
  const ort::Value* input(const ort::KernelContext* context, size_t i) const;
  Integers read_integers(const InputRow& row, const ort::Value* value) const;
  Element read_fill(const ort::Value* value) const;
  Seen see(const ort::Value* value) const;
  Element value_attribute() const;
  std::shared_ptr<const Prepared> latest() const;
  bool fits(const Prepared& prepared, std::span<const int64_t> shape, const ort::KernelContext* context) const;
  std::shared_ptr<const Prepared> prepare(std::span<const int64_t> shape, const ort::KernelContext* context) const;
  void run_engine(const ort::KernelContext* context, const Prepared& prepared, const Places& places) const;
  void move_strings(const ort::KernelContext* context, const Prepared& prepared, const ort::Value* data,
                    ort::Value* output, const Element& fill) const;
  void move_one_by_one(const Plan& plan, const Strings& strings, ort::Value* output, const Element& fill) const;

  const ort::Api& api_;
  const int minor_;
  const OpRow& op_;
  const TypeRow& type_;
  const bool alone_;
  const std::string name_;
  const std::string out_of_memory_;
  Mode mode_ = Mode::kConstant;
  Arguments constant_;                              // attributes, and integer inputs that are constant
  std::vector<std::optional<size_t>> places_;       // of the node's inputs in a run: see NodeReader
  std::vector<size_t> varying_;                     // inputs other than the data that each run reads
  std::optional<size_t> fill_input_;                // the fill among them
  Element fill_;                                    // the fill if no input has it
  mutable std::mutex mutex_;                        // a kernel may compute in several threads at once
  mutable std::shared_ptr<const Prepared> latest_;  // kept, since shapes mostly repeat
};

}  // namespace padops
