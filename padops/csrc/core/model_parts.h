// Searches an ONNX model without its weights for words, without onnx: every session does this.
#pragma once

#include <cstdint>

namespace padops {

// A stretch of a model's bytes.
struct Part {
  int64_t begin;
  int64_t end;
};

// Finds the parts of a model that are not weights: not initializers, and not values of Constants. Weights inside a
// graph, function, node or attribute of less than `small` bytes belong to a part: searching them takes less time.
//
// Parts come in order; parts with only a field's key between them are one. Every length in the model is checked against
// the actual bytes before use.
//
// Returns the number of parts and writes the first `capacity` of them to `parts`; -1 if the bytes are not a model.
int64_t model_parts(const uint8_t* model, int64_t size, int64_t small, Part* parts, int64_t capacity);

// Whether any part contains a word of `length` bytes, at least one.
bool has_word(const uint8_t* model, const Part* parts, int64_t count, const char* word, int64_t length);

}  // namespace padops
