// Output shapes at session creation.
#pragma once

#include "dialects.h"
#include "ort_abi.h"

namespace padops {

// Sets the output shape of an operator whose amounts are an attribute: known dims by P1, the dims that no amount touches
// by their symbol. Leaves the shape open where the input's is, or where a rule is broken (the kernel then says so, with
// the node's name, which is not known here). Throws std::runtime_error where the runtime refuses a call.
void infer_attribute_pad(const ort::Api& api, const OpRow& op, const TypeRow& type, ort::ShapeInferContext* context);

}  // namespace padops
