// What ONNX Runtime's own Pad surely does right, as far as a graph tells.
#pragma once

#include "core/dialects.h"
#include "ort/ort_abi.h"

namespace padops {

// Whether the runtime's own Pad of this node gives what the standard says, for every input that the graph allows. It
// must have a kernel for the type; where `casts` is true, float16 counts as one, which it casts to float and back, and
// which makes signalling NaNs quiet. What the graph leaves open, such as amounts that are computed, counts against it.
// padops/rules/cpu.json has what was measured.
bool builtin_is_right(const ort::Api& api, int minor, const ort::Node* node, const StandardOp& row, bool casts);

}  // namespace padops
