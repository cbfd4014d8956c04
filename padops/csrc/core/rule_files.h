// Reads files of rules, from padops/rules/ or `padops probe`. padops/runtime/provider_rules.py accepts the same files,
// and refuses the others with the same messages.
#pragma once

#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/provider_rules.h"

namespace padops {

// A file of padops/rules/.
struct RuleText {
  std::string_view file;
  std::string_view content;
};

const std::vector<RuleText>& rule_texts();  // in rules.cpp, which rules.cmake makes

// The rows of a file, which refer to its content. Throws std::runtime_error, whose message begins with the file's name.
std::vector<ProviderRow> rows_of(const Json& content, const std::string& file);

}  // namespace padops
