// Which Pads ONNX Runtime's own kernel is known to run right, by the graph.
#pragma once

#include "core/dialects.h"
#include "ort/ort_abi.h"

namespace padops {

// Whether the runtime's own Pad returns the standard's result for every input that the graph allows. The runtime needs
// a kernel for the type; if `casts` is true, float16 counts as such a type, although casts to float and back make
// signalling NaNs quiet. Unknown facts, such as computed amounts, mean false. padops/rules/cpu.json has the
// measurements.
bool builtin_is_right(const ort::Api& api, int minor, const ort::Node* node, const StandardOp& row, bool casts);

}  // namespace padops
