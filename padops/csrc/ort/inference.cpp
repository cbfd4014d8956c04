#include "ort/inference.h"

#include <cstdlib>
#include <memory>

#include "core/text.h"
#include "ort/ort_values.h"
#include "ort/status.h"

namespace padops {

namespace {

using TensorInfo = std::unique_ptr<ort::TensorInfo, void (*)(ort::TensorInfo*)>;

// The integers of an attribute. `out` of ReadOpAttr counts bytes.
std::vector<int64_t> read_integers(const ort::Api& api, const ort::OpAttr* attribute) {
  size_t bytes = 0;
  ort::Status* asked = api.ReadOpAttr()(attribute, ort::kInts, nullptr, 0, &bytes);
  if (asked != nullptr) api.ReleaseStatus()(asked);  // "too small": the call fails, and still sets the size
  std::vector<int64_t> values(bytes / sizeof(int64_t));
  if (!values.empty()) check(api, api.ReadOpAttr()(attribute, ort::kInts, values.data(), bytes, &bytes));
  return values;
}

// The list attributes of the node.
Arguments read_attributes(const ort::Api& api, const OpRow& op, const ort::ShapeInferContext* context) {
  Arguments node;
  for (const AttributeRow& row : op.attributes) {
    if (row.kind != AttributeKind::kInts) continue;
    const ort::OpAttr* attribute = nullptr;
    ort::Status* absent = api.ShapeInferContext_GetAttribute()(context, row.name, &attribute);
    if (absent != nullptr) {
      api.ReleaseStatus()(absent);
    } else {
      node.integers[row.name].values = read_integers(api, attribute);
    }
  }
  return node;
}

// The symbol of an output dim whose input has this symbol: "n", "padops(n + 2)", or none if it has no name. Equal
// symbols must mean equal sizes, because the runtime plans its memory by them. A model may have its own "n + 2", of any
// size; the name "padops" around ours keeps the two apart.
std::string output_symbol(const char* input, const Amounts& pads) {
  if (input == nullptr || *input == 0 || pads.interior != 0 || beyond(pads.begin) || beyond(pads.end)) return "";
  const int64_t added = pads.begin + pads.end;
  if (added == 0) return input;
  return text("padops(", input, added > 0 ? " + " : " - ", std::abs(added), ")");
}

}  // namespace

int schema_type_id(const TypeRow& type, int minor) { return minor <= 30 ? type.onnx : type.ort; }

void infer_static_pad(const ort::Api& api, const OpRow& op, int minor, ort::ShapeInferContext* context) {
  // The context owns the returned objects.
  ort::TensorInfo* input = nullptr;
  check(api, api.ShapeInferContext_GetInputTypeShape()(context, 0, &input));
  const TensorShape shape = tensor_shape(api, input);
  const size_t rank = shape.dims.size();
  if (rank == 0) return;  // a scalar or an unknown shape: the runtime does not distinguish them
  const TypeRow* type = type_of_ort(shape.element_type);
  if (type == nullptr) return;
  const Arguments node = read_attributes(api, op, context);
  std::vector<const char*> input_symbols(rank);
  check(api, api.GetSymbolicDimensions()(input, input_symbols.data(), rank));
  std::vector<int64_t> dims(rank);
  std::vector<std::string> symbols(rank);
  try {
    const std::vector<Amounts> amounts = op.amounts(op, node, shape.dims);
    for (size_t i = 0; i < rank; ++i) {
      dims[i] = shape.dims[i];
      if (dims[i] >= 0) {
        dims[i] =
            make_plan({dims[i]}, {amounts[i]}, Mode::kConstant, {Crop::kFull, Limit::kNone, false}).axes[0].output;
      } else {
        symbols[i] = output_symbol(input_symbols[i], amounts[i]);
        // The runtime would treat a dim without a symbol as size -1, and compute with it.
        if (symbols[i].empty()) return;
      }
    }
  } catch (const PadError&) {
    return;
  }
  std::vector<const char*> names(rank);
  for (size_t i = 0; i < rank; ++i) names[i] = symbols[i].c_str();
  ort::TensorInfo* made = nullptr;
  check(api, api.CreateTensorTypeAndShapeInfo()(&made));
  const TensorInfo output(made, api.ReleaseTensorTypeAndShapeInfo());
  check(api, api.SetTensorElementType()(output.get(), schema_type_id(*type, minor)));
  check(api, api.SetDimensions()(output.get(), dims.data(), rank));
  check(api, api.SetSymbolicDimensions()(output.get(), names.data(), rank));
  check(api, api.ShapeInferContext_SetOutputTypeShape()(context, 0, output.get()));
}

}  // namespace padops
