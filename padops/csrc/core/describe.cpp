// The tables of this library as JSON, so that Python can show them, and tests compare them with Python's own.
#include "core/dialects.h"
#include "core/provider_rules.h"
#include "core/text.h"
#include "core/types.h"

namespace padops {

namespace {

std::string quoted(std::string_view value) { return text('"', value, '"'); }

std::string boolean(bool value) { return value ? "true" : "false"; }

// In the order of the enumerators.
constexpr const char* kInputKinds[] = {"T", "int64", "index", "integer"};
constexpr const char* kAttributeTypes[] = {"ints", "float", "string"};
constexpr const char* kLimits[] = {"none", "openvino", "ngraph"};

template <class Enumerator>
std::string named(const char* const* names, Enumerator value) {
  return quoted(names[static_cast<size_t>(value)]);
}

std::string attribute_default(const AttributeRow& row) {
  if (row.required) return "null";
  if (row.kind == AttributeKind::kString) return quoted(row.text_default);
  return row.kind == AttributeKind::kFloat ? "0.0" : "[]";
}

template <class Rows, class Print>
std::string array(const Rows& rows, Print print) {
  std::vector<std::string> items;
  for (const auto& row : rows) items.push_back(print(row));
  return text("[", joined(items), "]");
}

std::string op_json(const OpRow& op) {
  const std::string inputs = array(op.inputs, [](const InputRow& row) {
    return text("{\"name\": ", quoted(row.name), ", \"kind\": ", named(kInputKinds, row.kind),
                ", \"optional\": ", boolean(row.optional), "}");
  });
  const std::string attributes = array(op.attributes, [](const AttributeRow& row) {
    return text("{\"name\": ", quoted(row.name), ", \"type\": ", named(kAttributeTypes, row.kind),
                ", \"required\": ", boolean(row.required), ", \"default\": ", attribute_default(row),
                ", \"choices\": ", array(row.choices, quoted), "}");
  });
  return text("{\"name\": ", quoted(op.name), ", \"inputs\": ", inputs, ", \"attributes\": ", attributes,
              ", \"mode\": ", quoted(op.mode),
              ", \"modes\": ", array(op.modes, [](const std::string& mode) { return quoted(mode); }),
              ", \"types\": ", array(op.types, [](const TypeRow* type) { return quoted(type->name); }),
              ", \"fill\": ", quoted(op.fill), ", \"crop\": ", quoted(op.rules.crop == Crop::kCrop ? "CROP" : "FULL"),
              ", \"limit\": ", named(kLimits, op.rules.limit), ", \"clamp\": ", boolean(op.rules.clamp), "}");
}

std::string type_json(const TypeRow& row) {
  return text("{\"name\": ", quoted(row.name), ", \"onnx\": ", row.onnx, ", \"ort\": ", row.ort,
              ", \"bits\": ", row.bits, ", \"pad\": ", row.pad, ", \"since\": ", row.since, "}");
}

std::string provider_json(const ProviderRow& row) {
  const std::string rules = array(row.rules, [](const ProviderRule& rule) {
    return text("{\"does\": ", quoted(kDoes[static_cast<size_t>(rule.does)]), ", \"when\": ", quoted(rule.when),
                ", \"modes\": ", array(rule.modes, quoted), ", \"limit\": ", rule.limit,
                ", \"types\": ", array(rule.types, quoted), ", \"before\": ", rule.before,
                ", \"plugin_before\": ", quoted(rule.plugin_before), "}");
  });
  return text("{\"name\": ", quoted(row.name), ", \"fuses\": ", boolean(row.fuses), ", \"rules\": ", rules, "}");
}

}  // namespace

const std::string& describe() {
  static const std::string json = text("{\"domain\": \"padops\", \"version\": 1, \"library\": ", quoted(PADOPS_VERSION),
                                       ", \"types\": ", array(types(), type_json), ", \"ops\": ", array(ops(), op_json),
                                       ", \"providers\": ", array(known_providers(), provider_json), "}");
  return json;
}

}  // namespace padops
