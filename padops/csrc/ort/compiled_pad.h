// Pads that the provider compiles: the runtime puts a node of another kind in their place. That is for providers behind
// padops' that ask for nodes which are taken; the runtime then gives them nothing at all.
#pragma once

#include "ort/provider.h"

namespace padops {

// OrtEp::Compile and OrtEp::ReleaseNodeComputeInfos of a provider whose factory is known.
void compile_pads(const Factory& factory, const ort::Graph** graphs, const ort::Node** fused, size_t count,
                  ort::NodeComputeInfo** out);
void release_pads(ort::NodeComputeInfo** infos, size_t count);

}  // namespace padops
