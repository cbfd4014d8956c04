// Reads JSON files of rules.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace padops {

struct Json {
  enum class Kind { kWord, kText, kList, kObject };  // kWord: a number, true, false or null

  Kind kind = Kind::kWord;
  std::string key;          // within an object
  std::string text;         // the characters of a string; else the source text
  std::vector<Json> parts;  // of a list or an object, in order

  const Json* find(std::string_view name) const;  // the last part with this key, or null
  std::optional<int> whole_number() const;
};

// Throws std::runtime_error, whose message has the line and the expected token.
Json read_json(std::string_view text);

}  // namespace padops
