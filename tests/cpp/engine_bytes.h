// Decisions from the bytes that a fuzzer has chosen; 0 where they have come to an end.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine_case.h"

class ByteDraw final : public Draw {
 public:
  ByteDraw(const uint8_t* bytes, size_t size) : bytes_(bytes), left_(size) {}

  uint64_t below(uint64_t limit) override {
    uint64_t word = take();
    for (uint64_t range = 256; range < limit; range *= 256) word = word * 256 + take();
    return word % limit;
  }

 private:
  uint64_t take() { return left_ > 0 ? --left_, *bytes_++ : 0; }

  const uint8_t* bytes_;
  size_t left_;
};
