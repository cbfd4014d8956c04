// The options of a provider, which ONNX Runtime keeps among a session's configuration entries.
#include "ort/provider_options.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/rule_files.h"
#include "core/text.h"
#if defined(_WIN32)
#include <filesystem>
#endif

namespace padops {

// Of a session's configuration entries.
std::string option_prefix(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text("ep.", lower, ".");
}

namespace {

constexpr size_t kLongestFile = 1 << 20;  // of rules

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
    else if (key == "rules") provider.rules = value;
    else throw std::runtime_error(text("there is no option ", key, ", only before, rules and report"));
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

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// A path is UTF-8 everywhere.
File open_file(const std::string& path, const char* how) {
#if defined(_WIN32)
  const std::filesystem::path wide(std::u8string(path.begin(), path.end()));
  return {_wfopen(wide.c_str(), std::wstring(how, how + 2).c_str()), std::fclose};
#else
  return {std::fopen(path.c_str(), how), std::fclose};
#endif
}

std::string read_file(const std::string& path) {
  const File file = open_file(path, "rb");
  if (file == nullptr) throw std::runtime_error(text(path, ": ", std::strerror(errno)));
  std::string content(kLongestFile + 1, '\0');
  content.resize(std::fread(content.data(), 1, content.size(), file.get()));
  if (std::ferror(file.get()) != 0) throw std::runtime_error(text(path, ": ", std::strerror(errno)));
  if (content.size() > kLongestFile) throw std::runtime_error(text(path, ": has more than ", kLongestFile, " bytes"));
  return content;
}

// The rows of a file, and the content that they refer to.
std::vector<ProviderRow> read_rules(const std::string& path, std::list<Json>& files) {
  const std::string content = read_file(path);
  try {
    files.push_back(read_json(content));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(text(path, ": expected JSON: ", error.what()));
  }
  return rows_of(files.back(), path);
}

// Finds the rules of the providers behind. Each file must belong to one of these providers.
void choose_rules(Provider& provider) {
  struct Named {
    std::string_view name, version;
  };
  std::vector<Named> behind;
  for (const std::string_view part : split(provider.before, ',')) {
    const std::vector<std::string_view> words = split(part, ' ');
    behind.push_back({words[0], words.size() > 1 ? words[1] : ""});
  }
  std::vector<ProviderRow> own;
  for (const std::string_view path : split(provider.rules, '\n')) {
    if (path.empty()) continue;
    const std::vector<ProviderRow> rows = read_rules(std::string(path), provider.files);
    const auto is_named = [&](const ProviderRow& row) {
      return std::ranges::count(behind, row.name, &Named::name) > 0;
    };
    if (std::ranges::none_of(rows, is_named))
      throw std::runtime_error(text(path, ": has rules for none of the providers that option before names"));
    own.insert(own.end(), rows.begin(), rows.end());
  }
  for (const auto& [name, version] : behind)
    if (const ProviderRow* row = find_provider(own, name)) provider.behind.push_back(of_plugin(*row, version));
}

}  // namespace

// Appends to a file: the runtime has no other way to pass a provider's facts to Python. (Streams of the statically
// linked C++ library would never finish their set-up.)
void append_to_file(const std::string& path, const std::string& content) {
  const File file = open_file(path, "ab");
  if (file == nullptr || std::fwrite(content.data(), 1, content.size(), file.get()) != content.size() ||
      std::fflush(file.get()) != 0)  // on a full disk, a short text fails here
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
  try {
    choose_rules(provider);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(text("option rules: ", error.what()));
  }
  if (!provider.report.empty()) append_to_file(provider.report, others);
}

}  // namespace padops
