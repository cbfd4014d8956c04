#include "small_runtime.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>

using namespace padops::ort;

Allocations allocations;

void* operator new(size_t bytes) {
  const bool refuse = allocations.limited && allocations.left-- <= 0;
  if (refuse) allocations.refused = true;
  void* memory = refuse ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  ++allocations.live;
  return memory;
}

void operator delete(void* memory) noexcept {
  allocations.live -= memory != nullptr;
  std::free(memory);
}

void operator delete(void* memory, size_t) noexcept { operator delete(memory); }

float padded[20];
int64_t pads[4] = {1, 1, 1, 1};

namespace {

float data[6] = {1, 2, 3, 4, 5, 6};
Value output{1, {4, 5}, padded};
TensorInfo made;  // what shape inference makes

}  // namespace

Value inputs[2] = {{1, {2, 3}, data}, {7, {4}, pads}};
std::vector<const CustomOp*> registered;
TensorInfo declared{1, {-1, 3}, {"rows", ""}};
TensorInfo inferred;
const char* broken_call = "";

Status* failed(int, const char* message) {
  auto* status = static_cast<Status*>(std::malloc(sizeof(Status)));
  std::snprintf(status->message, sizeof(status->message), "%s", message);
  return status;
}

namespace {

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
  Api made_api{};
  // The numbers are the slots of PADOPS_ORT_SLOTS.
  const auto set = [&](size_t slot, auto function) { set_entry(made_api, slot, function); };
  set(0, [](int code, const char* message) { return failed(code, message); });
  set(2, [](const Status* status) { return static_cast<const char*>(status->message); });
  set(26, [](const char*, CustomOpDomain** out) -> Status* {
    registered.clear();  // those of a registration that failed are gone
    *out = reinterpret_cast<CustomOpDomain*>(&registered);
    return nullptr;
  });
  set(27, [](CustomOpDomain*, const CustomOp* op) -> Status* {
    registered.push_back(op);
    return nullptr;
  });
  set(28, [](SessionOptions*, CustomOpDomain*) -> Status* { return nullptr; });
  set(237, [](const SessionOptions*, const char*, int* has) -> Status* {
    *has = 0;
    return nullptr;
  });
  set(51, [](Value* value, void** out) -> Status* {
    *out = value->bytes;
    return nullptr;
  });
  set(57, [](TensorInfo** out) -> Status* {
    if (Status* status = fails("CreateTensorTypeAndShapeInfo")) return status;
    ++allocations.live;
    made = {};
    *out = &made;
    return nullptr;
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
    *rank = info->rank;
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
  set(99, [](TensorInfo* info) { allocations.live -= info != nullptr; });
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
  return made_api;
}

}  // namespace

Api api = make_api();

Api make_older_api() {
  Api older = api;
  older.entries[414] = nullptr;
  set_entry(older, 65, [](const Value* value, TensorInfo** out) -> Status* {
    ++allocations.live;
    made = {};
    made.type = value->type;
    made.rank = value->dims.size();
    std::copy(value->dims.begin(), value->dims.end(), made.dims.begin());
    *out = &made;
    return nullptr;
  });
  return older;
}
