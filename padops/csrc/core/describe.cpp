#include "core/describe.h"

#include "core/dialects.h"
#include "core/text.h"
#include "core/types.h"

namespace padops {

namespace {

std::string quoted(std::string_view value) { return text('"', value, '"'); }

std::string boolean(bool value) { return value ? "true" : "false"; }

const char* kind_name(InputKind kind) {
  switch (kind) {
    case InputKind::kData: return "T";
    case InputKind::kInt64: return "int64";
    case InputKind::kIndex: return "index";
    case InputKind::kInteger: return "integer";
  }
  return "";
}

std::string attribute_type(const AttributeRow& row) {
  switch (row.kind) {
    case AttributeKind::kInts: return quoted("ints");
    case AttributeKind::kFloat: return quoted("float");
    case AttributeKind::kString: return quoted("string");
  }
  return "";
}

std::string attribute_default(const AttributeRow& row) {
  if (row.required) return "null";
  if (row.kind == AttributeKind::kString) return quoted(row.text_default);
  return row.kind == AttributeKind::kFloat ? "0.0" : "[]";
}

std::string limit_name(Limit limit) {
  switch (limit) {
    case Limit::kNone: return "none";
    case Limit::kOpenVINO: return "openvino";
    case Limit::kNGraph: return "ngraph";
  }
  return "";
}

template <class Rows, class Print>
std::string array(const Rows& rows, Print print) {
  std::vector<std::string> items;
  for (const auto& row : rows) items.push_back(print(row));
  return text("[", joined(items), "]");
}

std::string op_json(const OpRow& op) {
  const std::string inputs = array(op.inputs, [](const InputRow& row) {
    return text("{\"name\": ", quoted(row.name), ", \"kind\": ", quoted(kind_name(row.kind)),
                ", \"optional\": ", boolean(row.optional), "}");
  });
  const std::string attributes = array(op.attributes, [](const AttributeRow& row) {
    return text("{\"name\": ", quoted(row.name), ", \"type\": ", attribute_type(row),
                ", \"required\": ", boolean(row.required), ", \"default\": ", attribute_default(row),
                ", \"choices\": ", array(row.choices, quoted), "}");
  });
  return text("{\"name\": ", quoted(op.name), ", \"inputs\": ", inputs, ", \"attributes\": ", attributes,
              ", \"mode\": ", quoted(op.mode),
              ", \"modes\": ", array(op.modes, [](const std::string& mode) { return quoted(mode); }),
              ", \"types\": ", array(op.types, [](const TypeRow* type) { return quoted(type->name); }),
              ", \"fill\": ", quoted(op.fill), ", \"crop\": ", quoted(op.rules.crop == Crop::kCrop ? "CROP" : "FULL"),
              ", \"limit\": ", quoted(limit_name(op.rules.limit)), ", \"clamp\": ", boolean(op.rules.clamp), "}");
}

std::string type_json(const TypeRow& row) {
  return text("{\"name\": ", quoted(row.name), ", \"onnx\": ", row.onnx, ", \"ort\": ", row.ort,
              ", \"bits\": ", row.bits, ", \"pad\": ", row.pad, ", \"since\": ", row.since, "}");
}

}  // namespace

const std::string& describe() {
  static const std::string json =
      text("{\"domain\": \"padops\", \"version\": 1, \"library\": ", quoted(PADOPS_VERSION),
           ", \"types\": ", array(types(), type_json), ", \"ops\": ", array(ops(), op_json), "}");
  return json;
}

}  // namespace padops
