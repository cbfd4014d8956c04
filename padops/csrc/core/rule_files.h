// Files of rules, as those in padops/rules/ and as `padops probe` writes them. padops/runtime/provider_rules.py reads
// the same ones, and refuses the same ones with the same words.
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

// The rows of a file, which refer to its content. Throws std::runtime_error, which begins with the name of the file.
std::vector<ProviderRow> rows_of(const Json& content, const std::string& file);

}  // namespace padops
