#include "core/types.h"

namespace padops {

const std::vector<TypeRow>& types() {
  static const std::vector<TypeRow> rows = {
#define PADOPS_TYPE(name, onnx, ort, bits, pad, since) {name, onnx, ort, bits, pad, since},
#include "core/types.inc"
#undef PADOPS_TYPE
  };
  return rows;
}

}  // namespace padops
