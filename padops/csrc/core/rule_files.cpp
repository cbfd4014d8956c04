#include "core/rule_files.h"

#include <algorithm>
#include <map>
#include <span>
#include <stdexcept>

#include "core/text.h"

namespace padops {

namespace {

struct Member {
  std::string_view name;
  std::string_view what;
  bool is_required = false;
};

constexpr Member kOfFile[] = {
    {"names", "a list of strings", true},
    {"version", "a string", true},
    {"sources", "an object", true},
    {"rules", "a list of objects", true},
    {"fuses", "true or false"},
    {"moves", "a list of strings"},
    {"note", "a string"},
    {"expands_no_scalar", "a list of strings"},
    {"measured", "an object"},
    {"unexplained", "a list of strings"},
};
constexpr Member kOfRule[] = {
    {"does", "a string", true},     {"when", "a string", true},    {"source", "a string"},
    {"modes", "a list of strings"}, {"limit", "a whole number"},   {"types", "a list of strings"},
    {"before", "a whole number"},   {"plugin_before", "a string"}, {"note", "a string"},
};

bool is_list_of(const Json& value, Json::Kind kind) {
  return value.kind == Json::Kind::kList &&
         std::ranges::all_of(value.parts, [&](const Json& part) { return part.kind == kind; });
}

bool is_a(const Json& value, std::string_view what) {
  if (what == "a string") return value.kind == Json::Kind::kText;
  if (what == "an object") return value.kind == Json::Kind::kObject;
  if (what == "a whole number") return value.whole_number().has_value();
  if (what == "true or false")
    return value.kind == Json::Kind::kWord && (value.text == "true" || value.text == "false");
  return is_list_of(value, what == "a list of strings" ? Json::Kind::kText : Json::Kind::kObject);
}

void check_word(const std::string& where, std::string_view word, const std::vector<std::string_view>& known) {
  if (std::ranges::find(known, word) == known.end())
    throw std::runtime_error(text(where, ": \"", word, "\" is unknown; expected one of: ", joined(known)));
}

void check_members(const std::string& where, const Json& object, std::span<const Member> members) {
  std::vector<std::string_view> names;
  for (const Member& member : members) names.push_back(member.name);
  for (const Json& part : object.parts) check_word(where, part.key, names);
  for (const Member& member : members) {
    const Json* value = object.find(member.name);
    if (value == nullptr && member.is_required)
      throw std::runtime_error(text(where, ": \"", member.name, "\" is missing"));
    if (value != nullptr && !is_a(*value, member.what))
      throw std::runtime_error(text(where, ", ", member.name, ": expected ", member.what));
  }
}

template <class Row>
std::vector<std::string_view> strings(const Json& object, std::string_view name, Row row) {
  std::vector<std::string_view> found;
  if (const Json* list = object.find(name))
    for (const Json& part : list->parts) found.push_back(part.*row);
  return found;
}

std::string_view string(const Json& object, std::string_view name, std::string_view otherwise) {
  const Json* found = object.find(name);
  return found == nullptr ? otherwise : found->text;
}

int number(const Json& object, std::string_view name) {
  const Json* found = object.find(name);
  return found == nullptr ? 0 : *found->whole_number();
}

ProviderRule rule_of(const Json& rule, const std::string& where, const std::vector<std::string_view>& sources) {
  check_members(where, rule, kOfRule);
  const std::string_view does = rule.find("does")->text;
  ProviderRule made{};
  made.when = rule.find("when")->text;
  made.modes = strings(rule, "modes", &Json::text);
  check_word(text(where, ", does"), does, {std::begin(kDoes), std::end(kDoes)});
  check_word(text(where, ", when"), made.when, conditions());
  check_word(text(where, ", source"), string(rule, "source", "default"), sources);
  for (const std::string_view mode : made.modes)
    check_word(text(where, ", modes"), mode, {"constant", "edge", "reflect", "wrap"});
  made.does = static_cast<Does>(std::ranges::find(kDoes, does) - std::begin(kDoes));
  made.limit = number(rule, "limit");
  made.types = strings(rule, "types", &Json::text);
  made.before = number(rule, "before");
  made.plugin_before = string(rule, "plugin_before", "");
  return made;
}

const std::map<std::string_view, Json>& shipped() {
  static const std::map<std::string_view, Json> files = [] {
    std::map<std::string_view, Json> read;
    for (const RuleText& row : rule_texts()) read.emplace(row.file, read_json(row.content));
    return read;
  }();
  return files;
}

}  // namespace

std::vector<ProviderRow> rows_of(const Json& content, const std::string& file) {
  if (content.kind != Json::Kind::kObject)
    throw std::runtime_error(text(file, ": expected an object with the rules of a provider"));
  check_members(file, content, kOfFile);
  const std::vector<std::string_view> sources = strings(content, "sources", &Json::key);
  std::vector<ProviderRule> rules;
  for (const Json& rule : content.find("rules")->parts)
    rules.push_back(rule_of(rule, text(file, ", rule ", rules.size() + 1), sources));
  const bool fuses = string(content, "fuses", "") == "true";
  std::vector<ProviderRow> rows;
  for (const std::string_view name : strings(content, "names", &Json::text)) rows.push_back({name, fuses, rules});
  return rows;
}

const std::vector<std::string_view>& conditions() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> found;
    for (const Json& part : shipped().at("conditions.json").parts) found.push_back(part.key);
    return found;
  }();
  return names;
}

const std::vector<ProviderRow>& known_providers() {
  static const std::vector<ProviderRow> rows = [] {
    std::vector<ProviderRow> found;
    for (const auto& [file, content] : shipped()) {
      if (file == "conditions.json" || file == "cpu.json") continue;
      for (ProviderRow& row : rows_of(content, text("padops/rules/", file))) found.push_back(std::move(row));
    }
    return found;
  }();
  return rows;
}

const std::vector<CpuKernel>& cpu_kernels() {
  static const std::vector<CpuKernel> rows = [] {
    std::vector<CpuKernel> found;
    for (const Json& part : shipped().at("cpu.json").find("kernels")->find("first_opsets")->find("")->parts)
      found.push_back({part.key, *part.whole_number()});
    return found;
  }();
  return rows;
}

}  // namespace padops
