// The options of a provider, which ONNX Runtime keeps among a session's configuration entries.
#include "ort/provider_options.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.h"

namespace padops {

// Of a session's configuration entries.
std::string option_prefix(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text("ep.", lower, ".");
}

namespace {

void set_option(Provider& provider, std::string_view key, std::string_view value) {
  const auto choose = [&](std::string_view no, std::string_view yes) {
    if (value != no && value != yes)
      throw std::runtime_error(text("option ", key, " is '", value, "', expected ", no, " or ", yes));
    return value == yes;
  };
  const Role role = provider.factory->role;
  if (role == Role::kOperators) {
    if (key != kOperatorsOption) throw std::runtime_error(text("there is no option ", key, ", only operators"));
    if (value != "all") throw std::runtime_error(text("option ", key, " is '", value, "', expected all"));
  } else if (role == Role::kFirst) {
    if (key == "before") provider.before = value;
    else if (key == "report") provider.report = value;
    else if (key.starts_with("rule.")) provider.rules.emplace(key, value);
    else throw std::runtime_error(text("there is no option ", key, ", only before and report"));
  } else if (key == "claim") {
    provider.only_needed = choose("all", "needed");
  } else if (key == "float16") {
    provider.float16_native = choose("leave", "native");
  } else if (key == "in_front") {
    choose("needed", "never");  // for padops' Python, which places the providers of a session
  } else {
    throw std::runtime_error(text("there is no option ", key, ", only claim, float16 and in_front"));
  }
}

}  // namespace

// Appends to a file. The runtime has no other way to let Python know what only a provider is told. (Streams of the C++
// library that this one carries within itself would not return from their set-up.)
void append_to_file(const std::string& path, const std::string& content) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "ab"), std::fclose);
  if (file == nullptr || std::fwrite(content.data(), 1, content.size(), file.get()) != content.size() ||
      std::fflush(file.get()) != 0)  // where a disk is full, a short text fails here
    throw std::runtime_error(text("option report: cannot write ", path));
}

void read_options(Provider& provider, const ort::SessionOptions* options) {
  const ort::Api& api = *provider.factory->api;
  ort::KeyValuePairs* pairs = nullptr;
  check(api, api.GetSessionOptionsConfigEntries()(options, &pairs));
  const std::unique_ptr<ort::KeyValuePairs, void (*)(ort::KeyValuePairs*)> held(pairs, api.ReleaseKeyValuePairs());
  const char* const* keys = nullptr;
  const char* const* values = nullptr;
  size_t count = 0;
  api.GetKeyValuePairs()(pairs, &keys, &values, &count);
  const std::string prefix = option_prefix(provider.factory->name);
  std::string others;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view key = keys[i];
    if (key.starts_with(prefix)) set_option(provider, key.substr(prefix.size()), values[i]);
    else others += text("entry", '\0', key, '\0', values[i], '\0');
  }
  provider.own = read_rows(provider.rules);
  for (const std::string_view name : split(provider.before, ','))
    if (const ProviderRow* row = find_provider(provider.own, name)) provider.behind.push_back(row);
  if (!provider.report.empty()) append_to_file(provider.report, others);
}

}  // namespace padops
