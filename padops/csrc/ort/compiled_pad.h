// Pads that the provider compiles: the runtime replaces them by nodes of another kind. Some providers behind padops'
// also claim Pads that padops has; without the replacement, the runtime would give these providers no node at all.
#pragma once

#include "ort/provider.h"

namespace padops {

// OrtEp::Compile and OrtEp::ReleaseNodeComputeInfos of a provider whose factory is known.
void compile_pads(const Factory& factory, const ort::Graph** graphs, const ort::Node** fused, size_t count,
                  ort::NodeComputeInfo** out);
void release_pads(ort::NodeComputeInfo** infos, size_t count);

}  // namespace padops
