// Infers the type and shape of an output when a session is created.
#pragma once

#include "core/dialects.h"
#include "ort/ort_abi.h"

namespace padops {

// The id of a type in a schema of onnxruntime 1.`minor`. Tensors always have the ORT id, but 1.26 to 1.30 expect the
// ONNX id in schemas (measured on each release). The two differ only for float8e8m0, uint2 and int2.
int schema_type_id(const TypeRow& type, int minor);

// Sets the output type and shape of an operator whose amounts are attributes. A known dim follows from P1; for an
// unknown dim, the amounts are added to its symbol ("padops(n + 2)"). The type is the input's, since the runtime calls
// one function for all types of an operator. The shape stays open if the input's shape is open, a dim has no symbol, or
// a rule is broken: the kernel then reports the error with the node's name, which is unknown here. Throws
// std::runtime_error if the runtime refuses a call.
void infer_static_pad(const ort::Api& api, const OpRow& op, int minor, ort::ShapeInferContext* context);

}  // namespace padops
