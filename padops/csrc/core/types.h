// The table of element types.
#pragma once

#include <vector>

namespace padops {

struct TypeRow {
  const char* name;
  int onnx;
  int ort;
  int bits;   // 0: strings
  int pad;    // first version of ONNX Pad that lists it
  int since;  // first onnxruntime 1.x that accepts it in a custom operator
};

inline const std::vector<TypeRow>& types() {
  static const std::vector<TypeRow> rows = {
#define PADOPS_TYPE(name, onnx, ort, bits, pad, since) {name, onnx, ort, bits, pad, since},
#include "core/types.inc"
#undef PADOPS_TYPE
  };
  return rows;
}

// The row of an ORT id, or null.
inline const TypeRow* type_of_ort(int id) {
  for (const TypeRow& row : types())
    if (row.ort == id) return &row;
  return nullptr;
}

}  // namespace padops
