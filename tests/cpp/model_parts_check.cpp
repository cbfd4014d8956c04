// core/model_parts.cpp on random models, whole and damaged: for builds with sanitizers, which show a byte read past
// one.
//
// Every model lies alone in memory of its size. The words and the parts of a whole model are compared with what was
// written into it; of a damaged one, the parts have to lie in it, in their order.
#include "core/model_parts.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "draw.h"

namespace {

constexpr int kCases = 20000;
constexpr int64_t kCapacity = 8;
constexpr int kLongestKey = 12;

void check(bool good, const char* what, int number) {
  if (good) return;
  std::fprintf(stderr, "case %d: %s\n", number, what);
  std::exit(1);
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value > 127; value >>= 7) bytes += static_cast<char>(value | 128);
  return bytes + static_cast<char>(value);
}

std::string field(int number, const std::string& content) {
  return varint(static_cast<uint64_t>(number) << 3 | 2) + varint(content.size()) + content;
}

// Text of capital letters has no byte of a weight, which is small letters.
std::string text(Draw& draw, char first, int64_t least) {
  std::string bytes(static_cast<size_t>(draw.between(least, 40)), first);
  for (char& letter : bytes) letter = static_cast<char>(first + draw.below(26));
  return bytes;
}

enum class Kind { kModel, kGraph, kFunction, kNode, kAttribute };

std::string message(Draw& draw, Kind kind, int depth) {
  struct Child {
    int number;
    Kind kind;
  };
  static const std::vector<std::vector<Child>> children = {
      {{7, Kind::kGraph}, {25, Kind::kFunction}}, {{1, Kind::kNode}}, {{7, Kind::kNode}}, {{5, Kind::kAttribute}},
      {{6, Kind::kGraph}, {11, Kind::kGraph}},
  };
  std::string bytes;
  for (int64_t i = draw.between(0, 4); i > 0; --i) {
    switch (draw.below(5)) {
      case 0: bytes += varint(9 << 3) + varint(draw.below(1u << 30)); break;
      case 1: bytes += varint(9 << 3 | 1) + std::string(8, '\0'); break;
      case 2: bytes += varint(9 << 3 | 5) + std::string(4, '\0'); break;
      case 3:
        if (kind == Kind::kGraph || kind == Kind::kAttribute) {
          bytes += field(5, text(draw, 'a', kLongestKey));
        } else {
          bytes += field(3, text(draw, 'A', 0));
        }
        break;
      default:
        const std::vector<Child>& inner = children[static_cast<size_t>(kind)];
        const Child child = inner[draw.below(inner.size())];
        bytes += field(child.number, depth > 8 ? "" : message(draw, child.kind, depth + 1));
    }
  }
  return bytes;
}

// The number of parts; -1: the bytes are no model.
int64_t check_parts(Draw& draw, const std::string& model, bool whole, int number) {
  const size_t size = model.size();
  const std::unique_ptr<uint8_t[]> alone(new uint8_t[size]);
  std::memcpy(alone.get(), model.data(), size);
  const int64_t small = whole ? 0 : draw.between(0, 64);
  const int64_t capacity = draw.between(0, kCapacity);
  const std::unique_ptr<padops::Part[]> few(new padops::Part[static_cast<size_t>(capacity)]);
  const auto bytes = static_cast<int64_t>(size);
  const int64_t count = padops::model_parts(alone.get(), bytes, small, few.get(), capacity);
  if (count < 0) return count;
  std::vector<padops::Part> parts(static_cast<size_t>(count));
  check(padops::model_parts(alone.get(), bytes, small, parts.data(), count) == count, "another count", number);
  for (int64_t i = 0; i < std::min(count, capacity); ++i)
    check(few[i].begin == parts[i].begin && few[i].end == parts[i].end, "other parts for a capacity", number);
  int64_t end = -kLongestKey - 1;
  std::string left = model;
  std::string inside;
  for (const padops::Part& part : parts) {
    check(part.begin - end > kLongestKey && part.begin <= part.end, "no order", number);
    check(part.begin >= 0 && part.end <= bytes, "outside the model", number);
    end = part.end;
    inside += model.substr(static_cast<size_t>(part.begin), static_cast<size_t>(part.end - part.begin)) + '\n';
    std::fill(left.begin() + part.begin, left.begin() + part.end, '\0');
  }
  if (whole) {
    // Keys and numbers may look like letters, so only longer texts count.
    const auto run = [](const std::string& in, char first) {
      int longest = 0;
      int now = 0;
      for (const char letter : in)
        longest = std::max(longest, now = letter >= first && letter < first + 26 ? now + 1 : 0);
      return longest;
    };
    check(run(left, 'A') < 5, "a text is in no part", number);
    check(run(inside, 'a') < kLongestKey, "a weight is in a part", number);
  }
  std::string word = "PAD";
  if (size > 0 && draw.chance(70)) {
    const size_t at = draw.below(size);
    word = model.substr(at, std::min<size_t>(size - at, 1 + draw.below(8)));
  }
  const bool found = padops::has_word(alone.get(), parts.data(), count, word.data(), static_cast<int64_t>(word.size()));
  const bool expected = std::any_of(parts.begin(), parts.end(), [&](const padops::Part& part) {
    return model.substr(static_cast<size_t>(part.begin), static_cast<size_t>(part.end - part.begin)).find(word) !=
           std::string::npos;
  });
  check(found == expected, found ? "a word that is not there" : "a word is not found", number);
  return count;
}

// A graph within an attribute within a node within a graph, and so on: `depth` messages in a model.
std::string nested(int depth) {
  static const int numbers[] = {6, 5, 1};  // a graph, an attribute, a node
  std::string bytes;
  for (int i = depth; i > 1; --i) bytes = field(numbers[(i - 1) % 3 == 0 ? 0 : (i - 1) % 3 == 1 ? 2 : 1], bytes);
  return field(7, bytes);
}

}  // namespace

int main() {
  int models = 0;
  int damaged = 0;
  for (int number = 0; number < kCases; ++number) {
    RandomDraw draw(1, static_cast<uint64_t>(number));
    std::string model = message(draw, Kind::kModel, 0);
    check(check_parts(draw, model, true, number) >= 0, "a whole model is none", number);
    for (int64_t i = draw.between(1, 4); i > 0 && !model.empty(); --i)
      model[draw.below(model.size())] = static_cast<char>(draw.chance(30) ? 255 : draw.below(256));
    if (draw.chance(30)) model.resize(draw.below(model.size() + 1));
    ++(check_parts(draw, model, false, number) < 0 ? damaged : models);
  }
  RandomDraw draw(1, kCases);
  check(check_parts(draw, nested(100), true, kCases) >= 0, "100 messages in one another are too many", kCases);
  check(check_parts(draw, nested(101), true, kCases) < 0, "101 messages in one another are not too many", kCases);
  check(models > kCases / 20 && damaged > kCases / 20, "the damage shows in too many models, or too few", kCases);
  std::printf("%d cases passed\n", kCases);
}
