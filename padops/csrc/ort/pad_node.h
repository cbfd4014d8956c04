// Reads a Pad node in a graph of the runtime.
#pragma once

#include <string>
#include <vector>

#include "core/dialects.h"
#include "core/provider_rules.h"
#include "ort/ort_abi.h"
#include "ort/ort_values.h"

namespace padops {

// The row of a node's operator, or null.
const StandardOp* find_standard_op(const ort::Api& api, const ort::Node* node);

std::string name_of(const ort::Api& api, const ort::Node* node);

// The inputs of a node; null for an absent input.
std::vector<const ort::ValueInfo*> node_inputs(const ort::Api& api, const ort::Node* node);

// The dims and the type of a value. If the rank is unknown, `has_rank` is false and there are no dims.
TensorShape value_shape(const ort::Api& api, const ort::ValueInfo* value);

// The ORT id of the element type of a node's data; kUndefined if unknown.
int data_type(const ort::Api& api, const ort::Node* node);

// An attribute of a node, or null.
const ort::OpAttr* attribute(const ort::Api& api, const ort::Node* node, const char* name);

// The elements of a constant value, or null.
const ort::Value* constant_of(const ort::Api& api, const ort::ValueInfo* value);

// The mode's name; empty if padops does not know the mode.
std::string mode_of(const ort::Api& api, const ort::Node* node);

// Reads an attribute that is a list of integers; returns false if absent.
bool read_list(const ort::Api& api, const ort::Node* node, const char* name, Arguments& arguments);

// Reads constant amounts and axes into `arguments`; returns false if one of them is not constant.
bool read_amounts(const ort::Api& api, int minor, const ort::Node* node, const OpRow& op, Arguments& arguments);

// The facts of a node that other providers' rules need.
PadFacts pad_facts(const ort::Api& api, int minor, const ort::Node* node, const StandardOp& row);

}  // namespace padops
