#include "core/provider_rules.h"

namespace padops {

namespace {

// Operators whose data providers have in another layout, channels last.
std::vector<std::string_view> turned() {
  return {"AveragePool",
          "BatchNormalization",
          "Conv",
          "ConvInteger",
          "ConvTranspose",
          "DepthToSpace",
          "GlobalAveragePool",
          "GlobalLpPool",
          "GlobalMaxPool",
          "GridSample",
          "InstanceNormalization",
          "LRN",
          "LpPool",
          "MaxPool",
          "MaxRoiPool",
          "MaxUnpool",
          "QLinearConv",
          "Resize",
          "SpaceToDepth",
          "Upsample"};
}

std::vector<ProviderRule> tensorrt() {
  return {
      {Does::kLeaves, When::kOtherTypes, {}, 0, {"float", "float16", "bfloat16", "int32", "int64"}},
      {Does::kLeaves, When::kFillNotOne},
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
           {Does::kLeaves, When::kRankBelow, {}, 1},
           {Does::kLeaves, When::kEmpty},
           {Does::kLeaves,
            When::kOtherTypes,
            {},
            0,
            {"float", "float16", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "int4",
             "uint4"}},
           {Does::kLeaves, When::kComputedScalar},
           {Does::kRefuses, When::kAxesButAll},
           {Does::kRefuses, When::kAlways, {"wrap"}},
           {Does::kRefuses, When::kBeyondAll, {"reflect"}},
           {Does::kWrong, When::kCropBeyond, {"reflect"}},
           {Does::kDies, When::kCutBeyond},
           {Does::kRefuses, When::kFillNotOne},
           {Does::kWrong, When::kComputedFill, {"constant"}},
           {Does::kWrong, When::kAxesAndFill, {"constant"}},
           {Does::kWrong, When::kRoundedFill, {"constant"}},
           {Does::kRefuses, When::kEndlessValue},
       }},
      {"WebGpuExecutionProvider",
       false,
       {
           {Does::kRefuses, When::kAxesBeside, {}, 0, turned()},
           {Does::kLeaves, When::kOtherTypes, {}, 0, {"float", "float16", "int32", "uint32"}},
           {Does::kLeaves, When::kAbove, {}, 23},
           {Does::kLeaves, When::kBelow, {}, 2},
           {Does::kRefuses, When::kRankBelow, {}, 1},
           {Does::kRefuses, When::kFillNotOne, {"edge", "reflect", "wrap"}},
           {Does::kWrong, When::kBeyond, {"wrap"}},
           {Does::kWrong, When::kCrop, {"wrap"}},
           {Does::kRefuses, When::kEmpty, {"wrap"}},
           {Does::kWrong, When::kCropBeyond, {"reflect"}},
       }},
      {"QNNExecutionProvider",
       false,
       {
           {Does::kRefuses, When::kAxesBeside, {}, 0, turned()},
           {Does::kLeaves, When::kBelow, {}, 2},
           {Does::kLeaves, When::kAxes},
           {Does::kLeaves, When::kOpenDims},
           {Does::kLeaves, When::kComputed},
           {Does::kLeaves, When::kRankAbove, {}, 5},
           {Does::kLeaves, When::kRankAbove, {"edge", "reflect"}, 4},
           {Does::kLeaves, When::kComputedFill},
           {Does::kDies, When::kRankBelow, {"reflect"}, 1},
           {Does::kLeaves, When::kRankBelow, {}, 1},
           {Does::kLeaves, When::kAlways, {"wrap"}},
           {Does::kLeaves, When::kCrop, {"reflect"}},
           {Does::kLeaves, When::kBeyond, {"reflect"}},
           {Does::kLeaves, When::kOtherTypes, {}, 0, {"float", "float16", "double"}},
           {Does::kRefuses, When::kOtherTypes, {}, 0, {"float", "float16"}},
           {Does::kRefuses, When::kOtherTypes, {"edge"}, 0, {"float16"}},
           {Does::kWrong, When::kNodesBehind, {"edge"}},
           {Does::kRefuses, When::kEmpty},
           {Does::kRefuses, When::kNodesBehind, {"reflect"}},
           {Does::kDies, When::kFillEmpty},
           {Does::kRefuses, When::kSizesAbove, {}, 4},
       }},
      {"CUDAExecutionProvider",
       false,
       {
           {Does::kLeaves, When::kBelow, {}, 2},
           {Does::kLeaves, When::kOtherTypes, {}, 0, {"float", "double", "float16", "bool"}},
           {Does::kLeaves, When::kAbove, {}, 18, {}, 25},
           {Does::kWrong, When::kAlways, {"wrap"}, 0, {}, 25},
           {Does::kRefuses, When::kFillNotOne, {"edge", "reflect", "wrap"}},
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
           {Does::kLeaves, When::kRankBelow, {}, 1},
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
