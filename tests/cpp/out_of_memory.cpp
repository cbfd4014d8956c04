// Calls each entry point of the library again and again, and each time lets one allocation more succeed. A call that
// runs out of memory must give a status with a message. An exception that left an entry point would end this program.
// What has been made and released again must leave nothing allocated.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "small_runtime.h"

using namespace padops::ort;

extern "C" Status* RegisterCustomOps(SessionOptions* options, const ApiBase* base);
extern "C" const char* padops_describe();

namespace {

const CustomOp* find(const char* name) {
  for (const CustomOp* op : registered)
    if (std::strcmp(op->GetName(op), name) == 0 && op->GetInputType(op, 0) == inputs[0].type) return op;
  std::abort();
}

// The same with a runtime that copies dims.
void check_older() {
  static const Api older = make_older_api();
  const ApiBase base = {[](uint32_t) -> const Api* { return &older; }, [] { return "1.20.0"; }};
  if (RegisterCustomOps(nullptr, &base) != nullptr) wrong("an older runtime: it is refused");
  const CustomOp* pad = find("Pad_18");
  std::fill(std::begin(padded), std::end(padded), 9.0f);
  exhaust("an older runtime", "", [&] {
    void* kernel = nullptr;
    Status* status = pad->CreateKernelV2(pad, &older, nullptr, &kernel);
    if (status != nullptr) return status;
    status = pad->KernelComputeV2(kernel, nullptr);
    pad->KernelDestroy(kernel);
    return status;
  });
  if (padded[0] != 0 || padded[6] != 1 || padded[13] != 6) wrong("wrong output in an older runtime");
}

}  // namespace

int main() {
  registered.reserve(1000);
  const ApiBase old = {[](uint32_t version) -> const Api* { return version == 1 ? &api : nullptr; },
                       [] { return "1.2.0"; }};
  const ApiBase too_old = {[](uint32_t) -> const Api* { return &api; }, [] { return "1.18.1"; }};
  const ApiBase base = {[](uint32_t) -> const Api* { return &api; }, [] { return "1.31.0"; }};
  exhaust("a runtime without the API", "needs onnxruntime 1.20 or newer, this is 1.2.0",
          [&] { return RegisterCustomOps(nullptr, &old); });
  exhaust("a runtime that is too old", "needs onnxruntime 1.20 or newer, this is 1.18.1",
          [&] { return RegisterCustomOps(nullptr, &too_old); });
  exhaust("RegisterCustomOps", "", [&] { return RegisterCustomOps(nullptr, &base); });
  exhaust("padops_describe", "", [&] { return padops_describe() == nullptr ? failed(1, "padops: null") : nullptr; });
  const auto create = [](const char* name, const CustomOp* pad, void*& kernel) {
    exhaust(name, "", [&] {
      void* one = nullptr;
      Status* status = pad->CreateKernelV2(pad, &api, nullptr, &one);
      if (status == nullptr) pad->KernelDestroy(one);
      return status;
    });
    if (pad->CreateKernelV2(pad, &api, nullptr, &kernel) != nullptr) wrong("%s: no kernel", name);
  };
  const CustomOp* with_inputs = find("Pad_18");
  const CustomOp* with_attributes = find("Pad_2");
  void* kernels[2] = {};
  create("CreateKernelV2", with_inputs, kernels[0]);
  create("CreateKernelV2 with attributes", with_attributes, kernels[1]);
  exhaust("KernelComputeV2", "", [&] { return with_inputs->KernelComputeV2(kernels[0], nullptr); });
  if (padded[0] != 0 || padded[6] != 1) wrong("wrong output");
  exhaust("KernelComputeV2 with attributes", "", [&] { return with_attributes->KernelComputeV2(kernels[1], nullptr); });
  if (padded[0] != 7 || padded[6] != 1) wrong("wrong output of attributes");
  with_attributes->KernelDestroy(kernels[1]);
  exhaust("InferOutputShapeFn", "", [&] {
    inferred = {};
    Status* status = with_attributes->InferOutputShapeFn(with_attributes, nullptr);
    const bool right = inferred.dims[1] == 5 && std::strcmp(inferred.symbols[0], "padops(rows + 2)") == 0;
    return status != nullptr || right ? status : failed(1, "the shape stays open");
  });
  for (const char* call : {"ShapeInferContext_GetInputTypeShape", "CreateTensorTypeAndShapeInfo"}) {
    broken_call = call;
    exhaust(call, "a long message of the runtime",
            [&] { return with_attributes->InferOutputShapeFn(with_attributes, nullptr); });
  }
  pads[0] = 2000000000000000000;
  exhaust("a rule that is broken", "[P10]", [&] { return with_inputs->KernelComputeV2(kernels[0], nullptr); });
  with_inputs->KernelDestroy(kernels[0]);
  pads[0] = 1;
  // onnxruntime 1.20 crashes where an operator with inputs that may be absent infers its shape.
  if (with_inputs->InferOutputShapeFn != nullptr) wrong("Pad_18 infers its shape");
  check_older();
  check_provider();
}
