#include "core/provider_rules.h"

namespace padops {

namespace {

std::vector<ProviderRule> tensorrt() {
  return {
      {Does::kLeaves, When::kOtherTypes, {}, 0, {"float", "float16", "bfloat16", "int32", "int64"}},
      {Does::kWrong, When::kCrop, {"wrap"}},
      {Does::kWrong, When::kCropBeyond, {"reflect"}},
  };
}

}  // namespace

const std::vector<ProviderRow>& known_providers() {
  static const std::vector<ProviderRow> rows = {
      {"OpenVINOExecutionProvider",
       true,
       {
           {Does::kLeaves, When::kOpenRank},
           {Does::kLeaves,
            When::kOtherTypes,
            {},
            0,
            {"float", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "bool"}},
           {Does::kRefuses, When::kAxes},
           {Does::kRefuses, When::kAlways, {"wrap"}},
           {Does::kRefuses, When::kBeyond, {"reflect"}},
           {Does::kDies, When::kCutAway},
       }},
      {"WebGpuExecutionProvider",
       false,
       {
           {Does::kLeaves, When::kOtherTypes, {}, 0, {"float", "float16", "int32", "uint32"}},
           {Does::kLeaves, When::kAbove, {}, 23},
           {Does::kWrong, When::kBeyond, {"wrap"}},
           {Does::kWrong, When::kCrop, {"wrap"}},
           {Does::kWrong, When::kCropBeyond, {"reflect"}},
       }},
      {"QNNExecutionProvider",
       false,
       {
           {Does::kLeaves, When::kAxes},
           {Does::kLeaves, When::kOpenDims},
           {Does::kLeaves, When::kComputed},
           {Does::kLeaves, When::kAlways, {"wrap"}},
           {Does::kLeaves, When::kCrop, {"reflect"}},
           {Does::kLeaves, When::kBeyond, {"reflect"}},
           {Does::kLeaves, When::kOtherTypes, {}, 0, {"float", "float16", "double"}},
           {Does::kRefuses, When::kOtherTypes, {}, 0, {"float", "float16"}},
           {Does::kRefuses, When::kAlways, {"edge"}},
           {Does::kRefuses, When::kNodesBehind, {"reflect"}},
           {Does::kRefuses, When::kCutAway},
           {Does::kDies, When::kRankAbove, {}, 4},
       }},
      {"CUDAExecutionProvider",
       false,
       {
           {Does::kLeaves, When::kOtherTypes, {}, 0, {"float", "double", "float16", "bool"}},
           {Does::kWrong, When::kBeyond, {"reflect"}},
           {Does::kLeaves, When::kAbove, {}, 18},
       }},
      {"TensorrtExecutionProvider", false, tensorrt()},
      {"NvTensorRTRTXExecutionProvider", false, tensorrt()},
      {"CoreMLExecutionProvider",
       false,
       {
           {Does::kLeaves, When::kBelow, {}, 11},
           {Does::kLeaves, When::kOtherTypes, {}, 0, {"float", "float16"}},
           {Does::kLeaves, When::kComputed},
           {Does::kLeaves, When::kCrop},
           {Does::kLeaves, When::kAlways, {"edge", "wrap"}},
           {Does::kLeaves, When::kBeyond, {"reflect"}},
       }},
      {"DmlExecutionProvider",
       false,
       {
           {Does::kLeaves, When::kBelow, {}, 2},
           {Does::kRefuses, When::kAlways, {"wrap"}},
           {Does::kWrong, When::kCrop},
           {Does::kRefuses, When::kBeyond, {"reflect"}},
       }},
      {"MIGraphXExecutionProvider",
       false,
       {
           {Does::kLeaves, When::kComputed},
           {Does::kLeaves, When::kAlways, {"wrap"}},
           {Does::kWrong, When::kCrop, {"edge", "reflect"}},
       }},
      {"XnnpackExecutionProvider", false, {{Does::kLeaves, When::kAlways}}},
  };
  return rows;
}

}  // namespace padops
