// Reads a Pad node in a graph of the runtime.
#pragma once

#include <string>
#include <vector>

#include "core/dialects.h"
#include "core/provider_rules.h"
#include "ort/ort_abi.h"
#include "ort/ort_values.h"

namespace padops {

// The operator that a node is, or null.
const StandardOp* find_standard_op(const ort::Api& api, const ort::Node* node);

std::string name_of(const ort::Api& api, const ort::Node* node);

// The inputs of a node; null for one that is absent.
std::vector<const ort::ValueInfo*> node_inputs(const ort::Api& api, const ort::Node* node);

// The dims and the type of a value; no dims at all where the runtime does not tell the rank, and `has_rank` says so.
TensorShape value_shape(const ort::Api& api, const ort::ValueInfo* value);

// The ORT id of the element type of a node's data; kUndefined where the runtime does not tell.
int data_type(const ort::Api& api, const ort::Node* node);

// An attribute of a node, or null.
const ort::OpAttr* attribute(const ort::Api& api, const ort::Node* node, const char* name);

// The elements of a value that is a constant, or null.
const ort::Value* constant_of(const ort::Api& api, const ort::ValueInfo* value);

// The mode's name; empty if padops does not know the mode.
std::string mode_of(const ort::Api& api, const ort::Node* node);

// Reads an attribute that is a list of integers; gives false where there is none.
bool read_list(const ort::Api& api, const ort::Node* node, const char* name, Arguments& arguments);

// Reads amounts and axes into `arguments`, as far as they are constant; gives false where one of them is not.
bool read_amounts(const ort::Api& api, int minor, const ort::Node* node, const OpRow& op, Arguments& arguments);

// The facts of a node that the rules of other providers need.
PadFacts pad_facts(const ort::Api& api, int minor, const ort::Node* node, const StandardOp& row);

}  // namespace padops
