// Reads a node while its kernel is created. The runtime shows a node to a kernel through one API, and to a compiling
// provider through another.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/dialects.h"
#include "ort/ort_abi.h"

namespace padops {

class NodeReader {
 public:
  virtual ~NodeReader() = default;

  virtual std::string name() const = 0;

  // Whether the node has an attribute of that name, of any type.
  virtual bool has_attribute(const char* name) const = 0;

  // Reads one attribute into `node`; returns false if the node has none of that name and type.
  virtual bool read_attribute(const AttributeRow& row, Arguments& node) const = 0;

  // For each listed input, its place among the inputs of a run; nothing if it is known to be absent.
  virtual std::vector<std::optional<size_t>> places() const = 0;

  // The elements of an input that is a constant, or null.
  virtual const ort::Value* constant(size_t input) const = 0;
};

// A node for which the runtime creates a kernel.
class KernelNode : public NodeReader {
 public:
  KernelNode(const ort::Api& api, const ort::KernelInfo* info) : api_(api), info_(info) {}
  std::string name() const override;
  bool has_attribute(const char* name) const override;
  bool read_attribute(const AttributeRow& row, Arguments& node) const override;
  std::vector<std::optional<size_t>> places() const override;
  const ort::Value* constant(size_t input) const override;

 private:
  const ort::Api& api_;
  const ort::KernelInfo* info_;
};

// A node of a graph, and the fused node that replaces it: a run has the fused node's inputs.
class CompiledNode : public NodeReader {
 public:
  CompiledNode(const ort::Api& api, const ort::Node* node, const ort::Node* fused);
  std::string name() const override;
  bool has_attribute(const char* name) const override;
  bool read_attribute(const AttributeRow& row, Arguments& node) const override;
  std::vector<std::optional<size_t>> places() const override;
  const ort::Value* constant(size_t input) const override;

 private:
  std::string value_name(const ort::ValueInfo* value) const;

  const ort::Api& api_;
  const ort::Node* node_;
  const ort::Node* fused_;
  const std::vector<const ort::ValueInfo*> inputs_;
};

}  // namespace padops
