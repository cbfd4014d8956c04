#include "core/json.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <ranges>
#include <stdexcept>

#include "core/text.h"

namespace padops {

namespace {

constexpr int kMostLevels = 64;  // levels: each needs some of the stack

std::optional<uint16_t> hexadecimal(std::string_view digits) {
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (digits.size() != 4 || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

// In UTF-8. Half of a surrogate pair is not a character.
void append_character(std::string& out, uint16_t code) {
  if (code >= 0xd800 && code < 0xe000) code = 0xfffd;
  const auto more = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    more(0);
  } else {
    out += static_cast<char>(0xe0 | code >> 12);
    more(6);
    more(0);
  }
}

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  Json whole() {
    Json found = value(1);
    if (skip(); at_ != text_.size()) fail("the end");
    return found;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    const std::string_view before = text_.substr(0, at_);
    throw std::runtime_error(text("line ", 1 + std::ranges::count(before, '\n'), ": expected ", expected));
  }

  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  bool take(char c) {
    skip();
    if (next() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }

  Json value(int level) {
    if (level > kMostLevels) fail("fewer levels");
    Json found;
    if (take('"')) found = {Json::Kind::kText, {}, string(), {}};
    else if (take('[')) found = list(Json::Kind::kList, ']', level);
    else if (take('{')) found = list(Json::Kind::kObject, '}', level);
    else found.text = word();
    return found;
  }

  Json list(Json::Kind kind, char last, int level) {
    Json found{kind, {}, {}, {}};
    if (take(last)) return found;
    do {
      std::string key;
      if (kind == Json::Kind::kObject) {
        if (!take('"')) fail("a key in quotes");
        key = string();
        if (!take(':')) fail(":");
      }
      found.parts.push_back(value(level + 1));
      found.parts.back().key = std::move(key);
    } while (take(','));
    if (!take(last)) fail(text(", or ", last));
    return found;
  }

  std::string word() {
    const size_t end = std::min(text_.find_first_not_of("+-.0123456789abcdefghijklmnopqrstuvwxyzE", at_), text_.size());
    const std::string_view found = text_.substr(at_, end - at_);
    const bool is_number = !found.empty() && (found[0] == '-' || (found[0] >= '0' && found[0] <= '9'));
    if (!is_number && found != "true" && found != "false" && found != "null") fail("a value");
    at_ = end;
    return std::string(found);
  }

  std::string string() {
    std::string out;
    while (!(next() == '"')) {
      if (static_cast<unsigned char>(next()) < ' ') fail("the end of a string, or \\n for its next line");
      if (next() == '\\') escaped(out);
      else out += text_[at_++];
    }
    ++at_;
    return out;
  }

  void escaped(std::string& out) {
    constexpr std::string_view kNames = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    ++at_;
    if (const size_t which = kNames.find(next()); which != std::string_view::npos) {
      out += kMeant[which];
      ++at_;
      return;
    }
    const std::optional<uint16_t> code = hexadecimal(text_.substr(std::min(at_ + 1, text_.size()), 4));
    if (next() != 'u' || !code) fail("a character that \\ may stand before");
    append_character(out, *code);
    at_ += 5;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

const Json* Json::find(std::string_view name) const {
  const auto found = std::ranges::find(parts.rbegin(), parts.rend(), name, &Json::key);
  return found == parts.rend() ? nullptr : &*found;
}

std::optional<int> Json::whole_number() const {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (kind != Kind::kWord || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Json read_json(std::string_view text) { return JsonReader(text).whole(); }

}  // namespace padops
