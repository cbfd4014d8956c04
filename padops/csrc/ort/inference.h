// What the runtime learns of an output at session creation.
#pragma once

#include "dialects.h"
#include "ort_abi.h"

namespace padops {

// The id of a type where onnxruntime 1.`minor` builds a schema. Tensors always carry the ORT id, but 1.26 to 1.30 take
// the ONNX id here (measured on each release; the two differ for float8e8m0, uint2 and int2 alone).
int schema_type_id(const TypeRow& type, int minor);

// Sets the output type and shape of an operator whose amounts are attributes: known dims by P1, others by their symbol,
// with what is added to it. The type is the input's, since the runtime calls one function for all types of an operator.
// Leaves the shape open where the input's is, where a dim has no symbol, or where a rule is broken (the kernel then says
// so, with the node's name, which is not known here). Throws std::runtime_error where the runtime refuses a call.
void infer_static_pad(const ort::Api& api, const OpRow& op, int minor, ort::ShapeInferContext* context);

}  // namespace padops
