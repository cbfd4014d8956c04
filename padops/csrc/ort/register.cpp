// The operators of the domain "padops": RegisterCustomOps, which ONNX Runtime calls for every SessionOptions, and the
// functions that Python calls.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/dialects.h"
#include "core/text.h"
#include "ort/entry_points.h"
#include "ort/inference.h"
#include "ort/kernel.h"
#include "ort/ort_abi.h"
#include "ort/provider.h"
#include "ort/status.h"

namespace padops {

namespace {

// One operator for one element type: the runtime's part first, then ours.
struct PadOp : ort::CustomOp {
  const OpRow* row;
  const TypeRow* type;
  const ort::Api* api;
  int minor;    // of the runtime
  int type_id;  // the type's id in the runtime's schemas
};

const PadOp& self(const ort::CustomOp* op) { return *static_cast<const PadOp*>(op); }

ort::Status* create_kernel(const ort::CustomOp* op, const ort::Api* api, const ort::KernelInfo* info, void** kernel) {
  const PadOp& pad = self(op);
  const auto create = [&]() -> ort::Status* {
    *kernel = new Kernel(*api, pad.minor, KernelNode(*api, info), *pad.row, *pad.type);
    return nullptr;
  };
  return guarded(*api, kOutOfMemory, [] { return ""; }, create);  // the kernel names itself
}

ort::Status* compute(void* pointer, ort::KernelContext* context) {
  const auto& kernel = *static_cast<const Kernel*>(pointer);
  const auto run = [&]() -> ort::Status* {
    kernel.compute(context);
    return nullptr;
  };
  return guarded(kernel.api(), kernel.out_of_memory(), [&] { return kernel.label(); }, run);
}

// Static shapes at session creation if the amounts are attributes. Operators with optional inputs cannot have this
// callback: before the call, onnxruntime 1.20 dereferences the type of an absent input, and crashes. For them, the
// runtime infers only the type.
ort::Status* infer_shape(const ort::CustomOp* op, ort::ShapeInferContext* context) {
  const PadOp& pad = self(op);
  const auto infer = [&]() -> ort::Status* {
    infer_static_pad(*pad.api, *pad.row, pad.minor, context);
    return nullptr;
  };
  return guarded(*pad.api, kOutOfMemory, [&] { return text("padops::", pad.row->name, ": "); }, infer);
}

bool has_static_amounts(const OpRow& row) {
  return std::all_of(row.inputs.begin(), row.inputs.end(),
                     [](const InputRow& input) { return input.kind == InputKind::kData && !input.optional; });
}

PadOp make_op(const OpRow& row, const TypeRow& type, const ort::Api* api, int minor) {
  PadOp made{};
  made.row = &row;
  made.type = &type;
  made.api = api;
  made.minor = minor;
  made.type_id = schema_type_id(type, minor);
  made.version = ort::kApiVersion;
  made.GetName = [](const ort::CustomOp* op) { return self(op).row->name.c_str(); };
  made.GetExecutionProviderType = [](const ort::CustomOp*) -> const char* { return nullptr; };  // CPU
  made.GetInputTypeCount = [](const ort::CustomOp* op) { return self(op).row->inputs.size(); };
  made.GetInputType = [](const ort::CustomOp* op, size_t i) {
    switch (self(op).row->inputs[i].kind) {
      case InputKind::kData: return self(op).type_id;
      case InputKind::kInt64: return 7;
      default: return ort::kUndefined;
    }
  };
  made.GetInputCharacteristic = [](const ort::CustomOp* op, size_t i) -> int {
    return self(op).row->inputs[i].optional ? ort::kOptional : ort::kRequired;
  };
  made.GetOutputTypeCount = [](const ort::CustomOp*) -> size_t { return 1; };
  made.GetOutputType = [](const ort::CustomOp* op, size_t) { return self(op).type_id; };
  made.GetOutputCharacteristic = [](const ort::CustomOp*, size_t) -> int { return ort::kRequired; };
  made.GetInputMemoryType = [](const ort::CustomOp*, size_t) { return 0; };
  made.GetVariadicInputMinArity = [](const ort::CustomOp*) { return 0; };
  made.GetVariadicInputHomogeneity = [](const ort::CustomOp*) { return 0; };
  made.GetVariadicOutputMinArity = [](const ort::CustomOp*) { return 0; };
  made.GetVariadicOutputHomogeneity = [](const ort::CustomOp*) { return 0; };
  made.CreateKernelV2 = create_kernel;
  made.KernelComputeV2 = compute;
  made.KernelDestroy = [](void* kernel) { delete static_cast<Kernel*>(kernel); };
  made.InferOutputShapeFn = has_static_amounts(row) ? infer_shape : nullptr;
  made.GetStartVersion = [](const ort::CustomOp*) { return 1; };
  made.GetEndVersion = [](const ort::CustomOp*) { return 0x7fffffff; };
  return made;
}

// A configuration entry of a session: the operators that it uses, separated by commas. Without it, all are registered,
// which adds a millisecond to the creation of a session.
constexpr const char* kOperators = "padops.operators";

using Names = std::vector<std::string>;

Names all_names() {
  Names names;
  for (const OpRow& row : ops()) names.push_back(row.name);
  return names;
}

// The operators that a session requests, in the order of the table, each once.
Names names_of(const ort::Api& api, const ort::SessionOptions* options) {
  int has = 0;
  check(api, api.HasSessionConfigEntry()(options, kOperators, &has));
  const Names all = all_names();
  if (has == 0) return all;
  size_t size = 0;
  check(api, api.GetSessionConfigEntry()(options, kOperators, nullptr, &size));
  std::string list(size, '\0');
  check(api, api.GetSessionConfigEntry()(options, kOperators, list.data(), &size));
  list.resize(size - 1);
  std::set<std::string> asked;
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    const std::string name = list.substr(at, end - at);
    at = end + 1;
    if (std::find(all.begin(), all.end(), name) == all.end())
      throw std::runtime_error(text(kOperators, " names '", name, "', which is no operator of padops"));
    asked.insert(name);
  }
  Names names;
  std::copy_if(all.begin(), all.end(), std::back_inserter(names),
               [&](const std::string& name) { return asked.count(name) > 0; });
  return names;
}

// The operators of one runtime, and domains with some of them. Both live as long as the process: sessions hold pointers
// to them.
using Kernels = std::map<std::string, std::vector<std::unique_ptr<PadOp>>>;  // by the operator's name

struct Registered {
  Kernels kernels;
  std::map<Names, ort::CustomOpDomain*> domains;
};

Kernels make_kernels(const ort::Api* api, int minor) {
  Kernels made;
  for (const OpRow& row : ops()) {
    for (const TypeRow* type : row.types) {
      if (type->since > minor) continue;  // the runtime would refuse every session for one unknown type
      made[row.name].push_back(std::make_unique<PadOp>(make_op(row, *type, api, minor)));
    }
  }
  return made;
}

ort::CustomOpDomain* build_domain(const ort::Api* api, const Registered& registered, const Names& names) {
  ort::CustomOpDomain* domain = nullptr;
  check(*api, api->CreateCustomOpDomain()("padops", &domain));
  for (const std::string& name : names)
    for (const auto& kernel : registered.kernels.at(name)) check(*api, api->CustomOpDomain_Add()(domain, kernel.get()));
  return domain;
}

// Builds a domain once for each runtime in the process and each choice of operators; RegisterCustomOps is called for
// every SessionOptions.
ort::CustomOpDomain* domain_for(const ort::Api* api, const char* version, const Names& names) {
  static std::mutex mutex;
  static auto& runtimes = *new std::map<const ort::Api*, Registered>;  // never destroyed
  const std::lock_guard lock(mutex);
  Registered& registered = runtimes[api];
  if (registered.kernels.empty()) registered.kernels = make_kernels(api, runtime_minor(version));
  ort::CustomOpDomain*& domain = registered.domains[names];
  if (domain == nullptr) domain = build_domain(api, registered, names);
  return domain;
}

// Whether the session gets the operators with the device of PadopsOperatorsExecutionProvider.
bool come_with_a_device(const ort::Api& api, const ort::SessionOptions* options) {
  int has = 0;
  check(api,
        api.HasSessionConfigEntry()(options, (option_prefix(kOperatorsProvider) + kOperatorsOption).c_str(), &has));
  return has != 0;
}

}  // namespace

ort::CustomOpDomain* all_operators(const ort::Api* api, const char* version) {
  return domain_for(api, version, all_names());
}

}  // namespace padops

PADOPS_EXPORT padops::ort::Status* RegisterCustomOps(padops::ort::SessionOptions* options,
                                                     const padops::ort::ApiBase* base) {
  using namespace padops;
  const ort::Api* api = base->GetApi(ort::kApiVersion);
  const char* version = base->GetVersionString();
  if (api == nullptr || runtime_minor(version) < ort::kOldestMinor) {
    const auto refuse = [&]() -> ort::Status* {
      throw std::runtime_error(text("padops needs onnxruntime 1.", ort::kOldestMinor, " or newer, this is ", version));
    };
    return guarded(*base->GetApi(1), kOutOfMemory, [] { return ""; }, refuse);
  }
  const auto add = [&]() -> ort::Status* {
    const Names names = names_of(*api, options);
    if (come_with_a_device(*api, options)) return nullptr;
    return api->AddCustomOpDomain()(options, domain_for(api, version, names));
  };
  return guarded(*api, kOutOfMemory, [] { return "padops could not be registered: "; }, add);
}

// The operators, their inputs, attributes, modes and element types as JSON. The text lives as long as the library. Null
// if there is no memory for it.
PADOPS_EXPORT const char* padops_describe() {
  try {
    return padops::describe().c_str();
  } catch (...) {
    return nullptr;
  }
}
