#include "core/provider_rules.h"

namespace padops {

const std::vector<ProviderRow>& known_providers() {
  static const std::vector<ProviderRow> rows = {
      {"OpenVINOExecutionProvider",
       true,
       {
           {Does::kRefuses, When::kAxes},
           {Does::kRefuses, When::kAlways, {"wrap"}},
           {Does::kRefuses, When::kBeyond, {"reflect"}},
       }},
      {"WebGpuExecutionProvider",
       false,
       {
           {Does::kLeaves, When::kAbove, {}, 23},
           {Does::kWrong, When::kBeyond, {"wrap"}},
           {Does::kWrong, When::kCrop, {"wrap"}},
       }},
      {"QNNExecutionProvider",
       false,
       {
           {Does::kLeaves, When::kAxes},
           {Does::kLeaves, When::kOpenDims},
           {Does::kLeaves, When::kComputed},
           {Does::kLeaves, When::kAlways, {"wrap"}},
           {Does::kRefuses, When::kAlways, {"edge"}},
           {Does::kDies, When::kRankAbove, {}, 4},
       }},
  };
  return rows;
}

}  // namespace padops
