// Reads the amounts of every axis from a node: one function for each form of the operators.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/dialects.h"

namespace padops {

AmountsFunction pads_attribute;        // ONNX Pad 1 and 2: the one attribute that is a list
AmountsFunction pads_input;            // ONNX Pad 11 and later: an input; from 18 on for the axes in another input
AmountsFunction begin_and_end_inputs;  // OpenVINO Pad 1 and 12: two inputs, possibly of two integer types
AmountsFunction padding_attributes;    // nGraph Pad: three attributes; interior may be absent
AmountsFunction same_attributes;       // SAME padding of the spatial axes, from the shape (S1)

// The amounts before and after one spatial axis (S1). Throws PadError P10.
Amounts same_padding(int64_t size, int64_t kernel, int64_t stride, int64_t dilation, std::string_view auto_pad);

}  // namespace padops
