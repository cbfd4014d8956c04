// Where the decisions of a random case come from.
#pragma once

#include <cstddef>
#include <cstdint>

class Draw {
 public:
  virtual ~Draw() = default;

  // A number from 0 to limit - 1.
  virtual uint64_t below(uint64_t limit) = 0;

  int64_t between(int64_t min, int64_t max) {
    return min + static_cast<int64_t>(below(static_cast<uint64_t>(max - min) + 1));
  }
  bool chance(uint64_t percent) { return below(100) < percent; }
  template <class Item, size_t kCount>
  Item pick(const Item (&items)[kCount]) {
    return items[below(kCount)];
  }
};

// Decisions of a random number generator. They depend on the seed and the number of the case alone.
class RandomDraw final : public Draw {
 public:
  RandomDraw(uint64_t seed, uint64_t number) : state_(seed * 0x9E3779B97F4A7C15u + number * 0xD1B54A32D192ED03u) {}

  uint64_t below(uint64_t limit) override {  // splitmix64
    uint64_t word = state_ += 0x9E3779B97F4A7C15u;
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9u;
    word = (word ^ word >> 27) * 0x94D049BB133111EBu;
    return (word ^ word >> 31) % limit;
  }

 private:
  uint64_t state_;
};

// Decisions from the bytes that a fuzzer has chosen; 0 after their end.
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
