// What of an ONNX model is no weight, and which words stand there: a session asks it of every model, without onnx.
#pragma once

#include <cstdint>

namespace padops {

// A stretch of a model's bytes.
struct Part {
  int64_t begin;
  int64_t end;
};

// Finds the parts of a model that are not weights: not initializers, and not values of Constants. Weights in a graph,
// function, node or attribute of less than `small` bytes count as no weights: searching them takes less time.
//
// Parts come in their order, and those with only the key of a field between them as one. No length in the model is
// believed before it has been compared with the bytes that there are.
//
// Returns how many parts there are, of which `parts` gets the first `capacity`; or -1 if the bytes are no model.
int64_t model_parts(const uint8_t* model, int64_t size, int64_t small, Part* parts, int64_t capacity);

// Whether a word of `length` bytes, at least one, stands in any of the parts.
bool has_word(const uint8_t* model, const Part* parts, int64_t count, const char* word, int64_t length);

}  // namespace padops
