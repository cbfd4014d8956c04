#include "core/model_parts.h"

#include <algorithm>
#include <cstring>

namespace padops {

namespace {

constexpr int64_t kLongestKey = 12;  // the most bytes between two contents: the number of the field and its length
constexpr int kDeepest = 100;        // messages within messages, as protobuf itself allows
constexpr int64_t kBlock = 512;      // possible starts of a word that are compared before any is examined

enum class Message { kModel, kGraph, kFunction, kNode, kAttribute, kOther, kWeight };

// What a field of a message is, by its number in onnx.proto.
Message field_of(Message message, uint64_t number) {
  switch (message) {
    case Message::kModel: return number == 7 ? Message::kGraph : number == 25 ? Message::kFunction : Message::kOther;
    case Message::kGraph: return number == 1 ? Message::kNode : number == 5 ? Message::kWeight : Message::kOther;
    case Message::kFunction: return number == 7 ? Message::kNode : Message::kOther;
    case Message::kNode: return number == 5 ? Message::kAttribute : Message::kOther;
    case Message::kAttribute:
      return number == 6 || number == 11 ? Message::kGraph : number == 5 ? Message::kWeight : Message::kOther;
    default: return Message::kOther;
  }
}

class Walk {
 public:
  Walk(const uint8_t* model, int64_t small, Part* parts, int64_t capacity)
      : model_(model), small_(small), parts_(parts), capacity_(capacity) {}

  // Walks along the fields of the message from `at` to `end`; false if the bytes are not a message.
  bool message(int64_t at, int64_t end, Message kind, int depth) {
    if (depth > kDeepest) return false;
    while (at < end) {
      uint64_t key = 0;
      uint64_t size = 0;
      if (!number(at, end, key)) return false;
      switch (key & 7) {
        case 0:
          if (!number(at, end, size)) return false;
          continue;
        case 1: size = 8; break;
        case 2:
          if (!number(at, end, size)) return false;
          break;
        case 5: size = 4; break;
        default: return false;
      }
      if (size > static_cast<uint64_t>(end - at)) return false;
      const int64_t last = at + static_cast<int64_t>(size);
      const Message inner = (key & 7) == 2 ? field_of(kind, key >> 3) : Message::kWeight;  // a number has no words
      if (inner != Message::kWeight) {
        if (inner == Message::kOther || last - at < small_) {
          add(at, last);
        } else if (!message(at, last, inner, depth + 1)) {
          return false;
        }
      }
      at = last;
    }
    return true;
  }

  void add(int64_t begin, int64_t end) {
    if (count_ > 0 && begin - last_.end <= kLongestKey) {
      last_.end = end;
    } else {
      ++count_;
      last_ = {begin, end};
    }
    if (count_ <= capacity_) parts_[count_ - 1] = last_;
  }

  int64_t count() const { return count_; }

 private:
  // Reads a varint, and moves `at` behind it.
  bool number(int64_t& at, int64_t end, uint64_t& value) const {
    value = 0;
    for (int shift = 0; at < end && shift < 64; shift += 7) {
      const uint64_t byte = model_[at++];
      value |= (byte & 127) << shift;
      if (byte < 128) return true;
    }
    return false;
  }

  const uint8_t* model_;
  int64_t small_;
  Part* parts_;
  int64_t capacity_;
  int64_t count_ = 0;
  Part last_ = {0, 0};
};

// Whether the word begins at one of `count` places.
bool begins(const uint8_t* text, int64_t count, const char* word, int64_t length) {
  const auto first = static_cast<uint8_t>(word[0]);
  const auto last = static_cast<uint8_t>(word[length - 1]);
  for (int64_t at = 0; at < count; at += kBlock) {
    const int64_t stop = std::min(count, at + kBlock);
    uint8_t likely = 0;  // without a branch, so that the compiler handles many bytes at once
    for (int64_t i = at; i < stop; ++i)
      likely |= static_cast<uint8_t>((text[i] == first) & (text[i + length - 1] == last));
    if (likely != 0)
      for (int64_t i = at; i < stop; ++i)
        if (text[i] == first && std::memcmp(text + i, word, static_cast<size_t>(length)) == 0) return true;
  }
  return false;
}

}  // namespace

int64_t model_parts(const uint8_t* model, int64_t size, int64_t small, Part* parts, int64_t capacity) {
  Walk walk(model, small, parts, capacity);
  if (size < small) {
    walk.add(0, size);
  } else if (!walk.message(0, size, Message::kModel, 0)) {
    return -1;
  }
  return walk.count();
}

bool has_word(const uint8_t* model, const Part* parts, int64_t count, const char* word, int64_t length) {
  return std::any_of(parts, parts + count, [&](const Part& part) {
    return begins(model + part.begin, part.end - part.begin - length + 1, word, length);
  });
}

}  // namespace padops
