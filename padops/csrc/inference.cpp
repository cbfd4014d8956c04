#include "inference.h"

#include <algorithm>
#include <memory>

#include "kernel.h"

namespace padops {

namespace {

using TensorInfo = std::unique_ptr<ort::TensorInfo, void (*)(ort::TensorInfo*)>;

// The integers of an attribute. `out` of ReadOpAttr counts bytes.
std::vector<int64_t> read_integers(const ort::Api& api, const ort::OpAttr* attribute) {
  size_t bytes = 0;
  ort::Status* asked = api.ReadOpAttr()(attribute, ort::kInts, nullptr, 0, &bytes);
  if (asked != nullptr) api.ReleaseStatus()(asked);  // "too small", which is how the size is told
  std::vector<int64_t> values(bytes / sizeof(int64_t));
  if (!values.empty()) check(api, api.ReadOpAttr()(attribute, ort::kInts, values.data(), bytes, &bytes));
  return values;
}

// A dim of the output: the plan's where the input dim is known, else only that of an axis which no amount touches.
int64_t output_dim(int64_t input, const Amounts& pads) {
  if (input < 0) return pads.begin == 0 && pads.end == 0 ? input : -1;
  const bool known = std::abs(pads.begin) <= kLargest && std::abs(pads.end) <= kLargest && input <= kLargest;
  return known ? std::max<int64_t>(pads.begin + input + pads.end, -1) : -1;
}

}  // namespace

void infer_attribute_pad(const ort::Api& api, const OpRow& op, const TypeRow& type, ort::ShapeInferContext* context) {
  // The context owns what it hands out here.
  ort::TensorInfo* input = nullptr;
  check(api, api.ShapeInferContext_GetInputTypeShape()(context, 0, &input));
  const TensorShape shape = tensor_shape(api, input);
  const size_t rank = shape.dims.size();
  if (rank == 0) return;  // a scalar, or a shape that is not known: the runtime does not say which
  const auto row = std::find_if(op.attributes.begin(), op.attributes.end(),
                                [](const AttributeRow& a) { return a.kind == AttributeKind::kInts; });
  const ort::OpAttr* attribute = nullptr;
  ort::Status* status = api.ShapeInferContext_GetAttribute()(context, row->name, &attribute);
  if (status != nullptr) {
    api.ReleaseStatus()(status);
    return;
  }
  const std::vector<int64_t> pads = read_integers(api, attribute);
  if (pads.size() != 2 * rank) return;

  std::vector<const char*> symbols(rank);
  check(api, api.GetSymbolicDimensions()(input, symbols.data(), rank));
  std::vector<int64_t> dims(rank);
  for (size_t i = 0; i < rank; ++i) {
    const Amounts amounts{pads[i], pads[rank + i], 0};
    dims[i] = output_dim(shape.dims[i], amounts);
    if (amounts.begin != 0 || amounts.end != 0 || symbols[i] == nullptr) symbols[i] = "";
  }
  ort::TensorInfo* made = nullptr;
  check(api, api.CreateTensorTypeAndShapeInfo()(&made));
  const TensorInfo output(made, api.ReleaseTensorTypeAndShapeInfo());
  check(api, api.SetTensorElementType()(output.get(), type.ort));
  check(api, api.SetDimensions()(output.get(), dims.data(), rank));
  check(api, api.SetSymbolicDimensions()(output.get(), symbols.data(), rank));
  check(api, api.ShapeInferContext_SetOutputTypeShape()(context, 0, output.get()));
}

}  // namespace padops
