#include "core/provider_rules.h"

namespace padops {

namespace {

std::vector<ProviderRule> tensorrt() {
  return {
      {Does::kLeaves, When::kOtherTypes, {}, 0, {"float", "float16", "bfloat16", "int32", "int64"}},
      {Does::kLeaves, When::kOtherFill},
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
           {Does::kLeaves, When::kRank0},
           {Does::kLeaves, When::kEmpty},
           {Does::kRefuses, When::kAxes},
           {Does::kRefuses, When::kAlways, {"wrap"}},
           {Does::kRefuses, When::kOtherFill, {"edge", "reflect"}},
           {Does::kRefuses, When::kBeyondAll, {"reflect"}},
           {Does::kWrong, When::kCropBeyond, {"reflect"}},
           {Does::kDies, When::kCutBeyond},
       }},
      {"WebGpuExecutionProvider",
       false,
       {
           {Does::kLeaves, When::kOtherTypes, {}, 0, {"float", "float16", "int32", "uint32"}},
           {Does::kLeaves, When::kAbove, {}, 23},
           {Does::kRefuses, When::kRank0},
           {Does::kRefuses, When::kOtherFill, {"edge", "reflect", "wrap"}},
           {Does::kWrong, When::kBeyond, {"wrap"}},
           {Does::kWrong, When::kCrop, {"wrap"}},
           {Does::kRefuses, When::kEmpty, {"wrap"}},
           {Does::kWrong, When::kCropBeyond, {"reflect"}},
       }},
      {"QNNExecutionProvider",
       false,
       {
           {Does::kDies, When::kRank0, {"reflect"}},
           {Does::kLeaves, When::kRank0},
           {Does::kLeaves, When::kAxes},
           {Does::kLeaves, When::kOpenDims},
           {Does::kLeaves, When::kComputed},
           {Does::kLeaves, When::kAlways, {"wrap"}},
           {Does::kLeaves, When::kCrop, {"reflect"}},
           {Does::kLeaves, When::kBeyond, {"reflect"}},
           {Does::kLeaves, When::kOtherTypes, {}, 0, {"float", "float16", "double"}},
           {Does::kRefuses, When::kOtherTypes, {}, 0, {"float", "float16"}},
           {Does::kDies, When::kNoFill, {"edge", "reflect"}},
           {Does::kRefuses, When::kAlways, {"edge"}},
           {Does::kRefuses, When::kNodesBehind, {"reflect"}},
           {Does::kRefuses, When::kEmpty},
           {Does::kDies, When::kRankAbove, {}, 4},
       }},
      {"CUDAExecutionProvider",
       false,
       {
           {Does::kLeaves, When::kBelow, {}, 2},
           {Does::kLeaves, When::kOtherTypes, {}, 0, {"float", "double", "float16", "bool"}},
           {Does::kLeaves, When::kAbove, {}, 18, {}, 25},
           {Does::kWrong, When::kAlways, {"wrap"}, 0, {}, 25},
           {Does::kRefuses, When::kOtherFill, {"edge", "reflect", "wrap"}},
           {Does::kRefuses, When::kEmpty, {"wrap"}},
           {Does::kWrong, When::kBeyond, {"reflect"}, 0, {}, 25},
           {Does::kRefuses, When::kBeyond, {"reflect"}},
       }},
      {"TensorrtExecutionProvider", false, tensorrt()},
      {"NvTensorRTRTXExecutionProvider", false, tensorrt()},
      {"CoreMLExecutionProvider",
       false,
       {
           {Does::kLeaves, When::kBelow, {}, 11},
           {Does::kLeaves, When::kOtherTypes, {}, 0, {"float", "float16"}},
           {Does::kLeaves, When::kRank0},
           {Does::kLeaves, When::kEmpty},
           {Does::kLeaves, When::kComputed},
           {Does::kLeaves, When::kCrop},
           {Does::kLeaves, When::kAlways, {"edge", "wrap"}},
           {Does::kLeaves, When::kAlways, {"reflect"}, 0, {}, 26},
           {Does::kLeaves, When::kBeyond, {"reflect"}},
       }},
      {"DmlExecutionProvider",
       false,
       {
           {Does::kLeaves, When::kBelow, {}, 2},
           {Does::kLeaves, When::kAbove, {}, 21},
           {Does::kLeaves,
            When::kOtherTypes,
            {},
            0,
            {"float", "float16", "double", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
             "uint64"}},
           {Does::kRefuses, When::kAlways, {"wrap"}},
           {Does::kRefuses, When::kEmpty, {"edge"}},
           {Does::kWrong, When::kCrop},
       }},
      {"MIGraphXExecutionProvider",
       false,
       {
           {Does::kLeaves, When::kComputed},
           {Does::kLeaves, When::kAlways, {"wrap"}},
           {Does::kRefuses, When::kAxes, {"edge", "reflect"}},
           {Does::kDies, When::kCrop, {"edge"}},
           {Does::kRefuses, When::kCrop, {"reflect"}},
           {Does::kWrong, When::kSingle, {"reflect"}},
       }},
      {"XnnpackExecutionProvider", false, {{Does::kLeaves, When::kAlways}}},
  };
  return rows;
}

}  // namespace padops
