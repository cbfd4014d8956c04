#include "ort/compiled_pad.h"

#include <memory>
#include <stdexcept>

#include "core/dialects.h"
#include "core/text.h"
#include "ort/kernel.h"
#include "ort/node_reader.h"
#include "ort/pad_node.h"
#include "ort/status.h"

namespace padops {

namespace {

struct CompiledPad : ort::NodeComputeInfo {
  // The kernel uses no threads of the runtime: they would spin on CPUs that the next provider's threads need, which
  // made networks take up to twice as long.
  CompiledPad(const Factory& factory, const NodeReader& node, const OpRow& op, const TypeRow& type)
      : ort::NodeComputeInfo{}, kernel(*factory.api, factory.minor, node, op, type, true) {}

  const Kernel kernel;
};

ort::Status* compute(ort::NodeComputeInfo* info, void*, ort::KernelContext* context) {
  const Kernel& kernel = static_cast<CompiledPad*>(info)->kernel;
  const auto run = [&]() -> ort::Status* {
    kernel.compute(context);
    return nullptr;
  };
  return guarded(kernel.api(), kernel.out_of_memory(), [&] { return kernel.label(); }, run);
}

std::unique_ptr<CompiledPad> compile_pad(const Factory& factory, const ort::Graph* graph, const ort::Node* fused) {
  const ort::Api& api = *factory.api;
  const ort::Node* node = nullptr;
  check(api, api.Graph_GetNodes()(graph, &node, 1));  // the claimed group has one node
  const StandardOp* row = find_standard_op(api, node);
  const TypeRow* type = type_of_ort(data_type(api, node));
  if (row == nullptr || type == nullptr)
    throw std::runtime_error("the runtime has another node compiled than was asked for");
  auto made = std::make_unique<CompiledPad>(factory, CompiledNode(api, node, fused), row->op, *type);
  made->version = ort::kProviderApiVersion;
  made->CreateState = [](ort::NodeComputeInfo*, ort::NodeComputeContext*, void** state) -> ort::Status* {
    *state = nullptr;  // a kernel computes in several threads at once
    return nullptr;
  };
  made->Compute = compute;
  made->ReleaseState = [](ort::NodeComputeInfo*, void*) {};
  return made;
}

}  // namespace

void compile_pads(const Factory& factory, const ort::Graph** graphs, const ort::Node** fused, size_t count,
                  ort::NodeComputeInfo** out) {
  std::vector<std::unique_ptr<CompiledPad>> made(count);
  for (size_t i = 0; i < count; ++i) made[i] = compile_pad(factory, graphs[i], fused[i]);
  for (size_t i = 0; i < count; ++i) out[i] = made[i].release();
}

void release_pads(ort::NodeComputeInfo** infos, size_t count) {
  for (size_t i = 0; i < count; ++i) delete static_cast<CompiledPad*>(infos[i]);
}

}  // namespace padops
