// JSON, as files of rules have it.
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
  std::string text;         // of a string; else as it is written
  std::vector<Json> parts;  // of a list or an object, in their order

  const Json* find(std::string_view name) const;  // the last part with this key, or null
  std::optional<int> whole_number() const;
};

// Throws std::runtime_error, which says in which line what was expected.
Json read_json(std::string_view text);

}  // namespace padops
