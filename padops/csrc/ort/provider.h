// What the two files of the execution provider share: its factory, which holds the registry of its kernels.
#pragma once

#include <vector>

#include "core/text.h"
#include "ort/provider_abi.h"
#include "ort/status.h"

namespace padops {

constexpr const char* kProvider = "PadopsExecutionProvider";

struct Factory;
struct OpRow;

// What a kernel needs that the runtime does not hand over.
struct KernelSource {
  const Factory* factory;
  const OpRow* op;
};

// One for each runtime in the process. It lives as long as the process: sessions hold pointers to its registry, and one
// may outlive the library's registration.
struct Factory : ort::EpFactory {
  const ort::Api* api = nullptr;
  const ort::EpApi* ep_api = nullptr;
  int minor = 0;
  std::vector<KernelSource> sources;
  ort::KernelRegistry* registry = nullptr;
};

// Runs work that returns nothing; what it throws becomes a status.
template <class Work>
ort::Status* provider_call(const ort::Api& api, Work work) {
  const auto run = [&]() -> ort::Status* {
    work();
    return nullptr;
  };
  return guarded(api, kOutOfMemory, [] { return text(kProvider, ": "); }, run);
}

// Makes the registry of a factory whose runtime is known.
void build_registry(Factory& factory);

}  // namespace padops
