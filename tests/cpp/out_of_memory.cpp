// Calls each entry point of the library again and again, and each time lets one allocation more succeed. A call that
// runs out of memory must give a status with a message. An exception that left an entry point would end this program.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <string>
#include <vector>

#include "ort/ort_abi.h"

using namespace padops::ort;

extern "C" Status* RegisterCustomOps(SessionOptions* options, const ApiBase* base);
extern "C" const char* padops_describe();

namespace {

bool limited = false;
long allocations_left = 0;
bool refused = false;

}  // namespace

void* operator new(size_t bytes) {
  const bool refuse = limited && allocations_left-- <= 0;
  refused = refused || refuse;
  void* memory = refuse ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

// A runtime with one node: a Pad of floats [2, 3], or of ["rows", 3] while the session is created, by 1 on each side.
// It allocates with malloc alone.
namespace padops::ort {

struct Status {
  char message[1000];
};

struct Value {
  int type;
  std::vector<int64_t> dims;
  void* bytes;
};

struct TensorInfo {
  int type;
  std::array<int64_t, 2> dims;
  std::array<char[40], 2> symbols;
};

}  // namespace padops::ort

namespace {

float data[6] = {1, 2, 3, 4, 5, 6};
float padded[20];
int64_t pads[4] = {1, 1, 1, 1};
Value inputs[] = {{1, {2, 3}, data}, {7, {4}, pads}};
Value output{1, {4, 5}, padded};
std::vector<const CustomOp*> registered;
TensorInfo declared{1, {-1, 3}, {"rows", ""}};
TensorInfo made;      // what shape inference makes
TensorInfo inferred;  // what it says of the output
const char* broken_call = "";

Status* failed(int, const char* message) {
  auto* status = static_cast<Status*>(std::malloc(sizeof(Status)));
  std::snprintf(status->message, sizeof(status->message), "%s", message);
  return status;
}

template <class Function>
Api::Entry entry(Function* function) {
  return reinterpret_cast<Api::Entry>(function);
}

// Fails where the check wants that call to fail.
Status* fails(const char* call) {
  return std::strcmp(call, broken_call) == 0 ? failed(1, "a long message of the runtime") : nullptr;
}

// Gives a string as the runtime does: its size first, where there is no room yet.
Status* give(const char* text, char* out, size_t* size) {
  *size = std::strlen(text) + 1;
  if (out != nullptr) std::memcpy(out, text, *size);
  return nullptr;
}

Api make_api() {
  Api api{};
  // The numbers are the slots of PADOPS_ORT_SLOTS.
  const auto set = [&](size_t slot, auto function) { api.entries[slot] = entry(+function); };
  set(0, [](int code, const char* message) { return failed(code, message); });
  set(2, [](const Status* status) { return static_cast<const char*>(status->message); });
  set(26, [](const char*, CustomOpDomain**) -> Status* {
    registered.clear();  // those of a registration that failed are gone
    return nullptr;
  });
  set(27, [](CustomOpDomain*, const CustomOp* op) -> Status* {
    registered.push_back(op);
    return nullptr;
  });
  set(28, [](SessionOptions*, CustomOpDomain*) -> Status* { return nullptr; });
  set(51, [](Value* value, void** out) -> Status* {
    *out = value->bytes;
    return nullptr;
  });
  set(57, [](TensorInfo** out) -> Status* {
    made = {};
    *out = &made;
    return fails("CreateTensorTypeAndShapeInfo");
  });
  set(58, [](TensorInfo* info, int type) -> Status* {
    info->type = type;
    return nullptr;
  });
  set(59, [](TensorInfo* info, const int64_t* dims, size_t rank) -> Status* {
    std::copy_n(dims, rank, info->dims.begin());
    return nullptr;
  });
  set(60, [](const TensorInfo* info, int* type) -> Status* {
    *type = info->type;
    return nullptr;
  });
  set(61, [](const TensorInfo* info, size_t* rank) -> Status* {
    *rank = info->dims.size();
    return nullptr;
  });
  set(62, [](const TensorInfo* info, int64_t* dims, size_t rank) -> Status* {
    std::copy_n(info->dims.begin(), rank, dims);
    return nullptr;
  });
  set(63, [](const TensorInfo* info, const char** names, size_t rank) -> Status* {
    for (size_t i = 0; i < rank; ++i) names[i] = info->symbols[i];
    return nullptr;
  });
  set(85, [](const KernelInfo*, const char*, float* out) -> Status* {
    *out = 7;
    return nullptr;
  });
  set(87, [](const KernelInfo*, const char*, char* out, size_t* size) { return give("constant", out, size); });
  set(90, [](const KernelContext*, size_t index, const Value** out) -> Status* {
    *out = &inputs[index];
    return nullptr;
  });
  set(91, [](KernelContext*, size_t, const int64_t*, size_t, Value** out) -> Status* {
    *out = &output;
    return nullptr;
  });
  set(93, [](Status* status) { std::free(status); });
  set(99, [](TensorInfo*) {});
  set(163, [](const KernelInfo*, const char*, int64_t* out, size_t* count) -> Status* {
    *count = std::size(pads);
    if (out != nullptr) std::copy_n(pads, *count, out);
    return nullptr;
  });
  set(230, [](const KernelInfo*, size_t* out) -> Status* {
    *out = std::size(inputs);
    return nullptr;
  });
  set(244, [](const KernelInfo*, char* out, size_t* size) { return give("a node with a long name", out, size); });
  set(249, [](const KernelInfo*, size_t, int*, const Value**) -> Status* { return nullptr; });
  set(268, [](const ShapeInferContext*, size_t, TensorInfo** out) -> Status* {
    *out = &declared;
    return fails("ShapeInferContext_GetInputTypeShape");
  });
  set(269, [](const ShapeInferContext*, const char*, const OpAttr** out) -> Status* {
    *out = nullptr;
    return nullptr;
  });
  set(270, [](const ShapeInferContext*, size_t, const TensorInfo* info) -> Status* {
    inferred = *info;
    return nullptr;
  });
  set(271, [](TensorInfo* info, const char** names, size_t rank) -> Status* {
    for (size_t i = 0; i < rank; ++i) std::snprintf(info->symbols[i], sizeof(info->symbols[i]), "%s", names[i]);
    return nullptr;
  });
  set(272, [](const OpAttr*, int, void* values, size_t room, size_t* bytes) -> Status* {
    *bytes = sizeof(pads);
    if (room < sizeof(pads)) return failed(1, "too small");
    std::memcpy(values, pads, sizeof(pads));
    return nullptr;
  });
  set(414, [](const Value* value, int* type, const int64_t** dims, size_t* rank) -> Status* {
    *type = value->type;
    *dims = value->dims.data();
    *rank = value->dims.size();
    return nullptr;
  });
  return api;
}

const Api api = make_api();

// Calls until no allocation is refused. That call's message must contain `last`, or be none where it is empty; the
// calls before must each give a message of padops.
template <class Call>
void exhaust(const char* name, const char* last, Call call) {
  for (long allowed = 0;; ++allowed) {
    limited = true;
    allocations_left = allowed;
    refused = false;
    Status* status = call();
    limited = false;
    const std::string message = status == nullptr ? "" : status->message;
    std::free(status);
    const std::string expected = refused ? "padops" : last;
    if (message.empty() != expected.empty() || message.find(expected) == std::string::npos) {
      std::fprintf(stderr, "%s, %ld allocations: \"%s\", expected \"%s\"\n", name, allowed, message.c_str(),
                   expected.c_str());
      std::exit(1);
    }
    if (!refused) return static_cast<void>(std::printf("%s: %ld allocations\n", name, allowed));
  }
}

const CustomOp* find(const char* name) {
  for (const CustomOp* op : registered)
    if (std::strcmp(op->GetName(op), name) == 0 && op->GetInputType(op, 0) == inputs[0].type) return op;
  std::abort();
}

}  // namespace

int main() {
  registered.reserve(1000);
  const ApiBase old = {[](uint32_t version) { return version == 1 ? &api : nullptr; }, [] { return "1.2.0"; }};
  const ApiBase too_old = {[](uint32_t) { return &api; }, [] { return "1.18.1"; }};
  const ApiBase base = {[](uint32_t) { return &api; }, [] { return "1.31.0"; }};
  exhaust("a runtime without the API", "needs onnxruntime 1.20 or newer, this is 1.2.0",
          [&] { return RegisterCustomOps(nullptr, &old); });
  exhaust("an old runtime", "needs onnxruntime 1.20 or newer, this is 1.18.1",
          [&] { return RegisterCustomOps(nullptr, &too_old); });
  exhaust("RegisterCustomOps", "", [&] { return RegisterCustomOps(nullptr, &base); });
  exhaust("padops_describe", "", [&] { return padops_describe() == nullptr ? failed(1, "padops: null") : nullptr; });
  const auto create = [](const char* name, const CustomOp* pad, void*& kernel) {
    exhaust(name, "", [&] {
      if (kernel != nullptr) pad->KernelDestroy(kernel);
      kernel = nullptr;
      return pad->CreateKernelV2(pad, &api, nullptr, &kernel);
    });
  };
  const CustomOp* with_inputs = find("Pad_18");
  const CustomOp* with_attributes = find("Pad_2");
  void* kernels[2] = {};
  create("CreateKernelV2", with_inputs, kernels[0]);
  create("CreateKernelV2 with attributes", with_attributes, kernels[1]);
  exhaust("KernelComputeV2", "", [&] { return with_inputs->KernelComputeV2(kernels[0], nullptr); });
  if (padded[0] != 0 || padded[6] != 1) return std::fprintf(stderr, "wrong output\n"), 1;
  exhaust("KernelComputeV2 with attributes", "", [&] { return with_attributes->KernelComputeV2(kernels[1], nullptr); });
  if (padded[0] != 7 || padded[6] != 1) return std::fprintf(stderr, "wrong output of attributes\n"), 1;
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
}
