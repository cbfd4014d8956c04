// Runs cases of the conformance suite and compares every bit: replay RUNTIME LIBRARY CASES, with the library of ONNX
// Runtime, that of padops, and the file that tests/processes/write_cases.py writes. It needs nothing else, and so runs
// wherever the two libraries do.
#include <onnxruntime_c_api.h>

#if defined(_WIN32)
#define NOMINMAX
#include <windows.h>
#else
#include <dlfcn.h>
#endif

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "replay_case.h"

namespace {

const OrtApi* ort = nullptr;

#if defined(_WIN32)
std::wstring native(const char* path) { return {path, path + std::strlen(path)}; }  // its callers give ASCII

template <class Function>
Function find(const char* library, const char* name) {
  HMODULE loaded = LoadLibraryW(native(library).c_str());
  if (loaded == nullptr) throw std::runtime_error("LoadLibrary: error " + std::to_string(GetLastError()));
  return reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(loaded, name)));
}
#else
std::string native(const char* path) { return path; }

template <class Function>
Function find(const char* library, const char* name) {
  void* loaded = dlopen(library, RTLD_NOW);
  if (loaded == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<Function>(dlsym(loaded, name));
}
#endif

void check(OrtStatus* status) {
  if (status == nullptr) return;
  const std::string message = ort->GetErrorMessage(status);
  ort->ReleaseStatus(status);
  throw std::runtime_error(message);
}

// What a function of the runtime makes, given back to it at the end.
template <class Made>
using Owned = std::unique_ptr<Made, void (*)(Made*)>;

template <class Made, class Make>
Owned<Made> make(void (*release)(Made*), const Make& call) {
  Made* made = nullptr;
  check(call(&made));
  return {made, release};
}

Owned<OrtValue> value_of(const Tensor& tensor) {
  OrtAllocator* allocator = nullptr;
  check(ort->GetAllocatorWithDefaultOptions(&allocator));
  auto value = make<OrtValue>(ort->ReleaseValue, [&](OrtValue** out) {
    const auto type = static_cast<ONNXTensorElementDataType>(tensor.type);
    return ort->CreateTensorAsOrtValue(allocator, tensor.dims.data(), tensor.dims.size(), type, out);
  });
  for (size_t i = 0; i < tensor.texts.size(); ++i) {
    char* text = nullptr;
    check(ort->GetResizedStringTensorElementBuffer(value.get(), i, tensor.texts[i].size(), &text));
    std::memcpy(text, tensor.texts[i].data(), tensor.texts[i].size());
  }
  void* data = nullptr;
  if (tensor.bytes.empty()) return value;
  check(ort->GetTensorMutableData(value.get(), &data));
  std::memcpy(data, tensor.bytes.data(), tensor.bytes.size());
  return value;
}

// What the runtime gave, with as many bytes as are expected.
Tensor tensor_of(OrtValue* value, size_t bytes) {
  const auto info = make<OrtTensorTypeAndShapeInfo>(
      ort->ReleaseTensorTypeAndShapeInfo,
      [&](OrtTensorTypeAndShapeInfo** out) { return ort->GetTensorTypeAndShape(value, out); });
  Tensor tensor;
  ONNXTensorElementDataType type{};
  size_t rank = 0;
  size_t count = 0;
  check(ort->GetTensorElementType(info.get(), &type));
  check(ort->GetDimensionsCount(info.get(), &rank));
  check(ort->GetTensorShapeElementCount(info.get(), &count));
  tensor.type = type;
  tensor.dims.resize(rank);
  check(ort->GetDimensions(info.get(), tensor.dims.data(), rank));
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
    size_t length = 0;
    check(ort->GetStringTensorDataLength(value, &length));
    std::string all(length, '\0');
    std::vector<size_t> begins(count + 1, length);
    check(ort->GetStringTensorContent(value, all.data(), length, begins.data(), count));
    for (size_t i = 0; i < count; ++i) tensor.texts.push_back(all.substr(begins[i], begins[i + 1] - begins[i]));
  } else if (count > 0) {
    void* data = nullptr;
    check(ort->GetTensorMutableData(value, &data));
    tensor.bytes.assign(static_cast<const char*>(data), bytes);
  }
  return tensor;
}

struct Runtime {
  OrtEnv* env;
  OrtSessionOptions* operators;
  OrtSessionOptions* provider;  // null where the runtime is too old for it
};

// How the runtime says that it does not know the model's opset or format; it says so before it asks a provider.
bool is_too_new(const std::string& message) {
  return message.find("is under development and support for this is limited") != std::string::npos ||
         message.find("Unsupported model IR version") != std::string::npos;
}

// What is wrong with a case; empty where nothing is.
std::string run(const Runtime& runtime, const Case& asked) {
  try {
    const auto session = make<OrtSession>(ort->ReleaseSession, [&](OrtSession** out) {
      const OrtSessionOptions* options = asked.provider ? runtime.provider : runtime.operators;
      return ort->CreateSessionFromArray(runtime.env, asked.model.data(), asked.model.size(), options, out);
    });
    std::vector<Owned<OrtValue>> values;
    std::vector<const OrtValue*> inputs;
    std::vector<const char*> names;
    for (const Tensor& input : asked.inputs) {
      values.push_back(value_of(input));
      inputs.push_back(values.back().get());
      names.push_back(input.name.c_str());
    }
    const char* name = "output";
    const auto output = make<OrtValue>(ort->ReleaseValue, [&](OrtValue** out) {
      return ort->Run(session.get(), nullptr, names.data(), inputs.data(), inputs.size(), &name, 1, out);
    });
    if (!asked.error.empty()) return "an output, expected an error that says " + asked.error;
    const Tensor got = tensor_of(output.get(), asked.output.bytes.size());
    if (got.type != asked.output.type || got.dims != asked.output.dims) return "another type or shape";
    return got == asked.output ? "" : "other bits";
  } catch (const std::runtime_error& error) {
    const std::string message = error.what();
    if (asked.error.empty()) return message;
    return message.find(asked.error) != std::string::npos ? "" : message + "; expected: " + asked.error;
  }
}

// Puts the first device of a provider into the options, with so many options of its own.
void append(const Runtime& runtime, const char* provider, size_t options) {
  const char *key = "float16", *value = "native";  // no detour through float, which would change some NaNs
  const OrtEpDevice* const* devices = nullptr;
  size_t count = 0;
  check(ort->GetEpDevices(runtime.env, &devices, &count));
  for (size_t i = 0; i < count; ++i)
    if (std::strcmp(ort->EpDevice_EpName(devices[i]), provider) == 0)
      return check(ort->SessionOptionsAppendExecutionProvider_V2(runtime.provider, runtime.env, &devices[i], 1, &key,
                                                                 &value, options));
  throw std::runtime_error(std::string("there is no ") + provider);
}

Runtime prepare(const char* library, int minor) {
  Runtime made{};
  check(ort->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "replay", &made.env));
  for (OrtSessionOptions** options : {&made.operators, &made.provider}) {
    if (options == &made.provider && minor < 24) continue;
    check(ort->CreateSessionOptions(options));
    check(ort->SetIntraOpNumThreads(*options, 1));
  }
  check(ort->RegisterCustomOpsLibrary_V2(made.operators, native(library).c_str()));
  if (made.provider == nullptr) return made;
  check(ort->RegisterExecutionProviderLibrary(made.env, "padops", native(library).c_str()));
  append(made, "PadopsExecutionProvider", 1);
  append(made, "CPUExecutionProvider", 0);
  return made;
}

int replay(const char* runtime_name, const char* library, const char* cases) {
  const OrtApiBase* base = find<const OrtApiBase* (*)()>(runtime_name, "OrtGetApiBase")();
  int minor = 0;
  if (std::sscanf(base->GetVersionString(), "1.%d", &minor) != 1) minor = INT32_MAX;
  ort = base->GetApi(minor < 24 ? 17 : 24);
  const Runtime runtime = prepare(library, minor);
  int passed = 0, failed = 0, skipped = 0;
  for (Reader file(cases); !file.ended();) {
    const Case asked = read_case(file);
    if (minor < asked.since || (asked.provider && runtime.provider == nullptr)) {
      ++skipped;
      continue;
    }
    const std::string wrong = run(runtime, asked);
    if (asked.provider && is_too_new(wrong)) {
      ++skipped;
      continue;
    }
    ++(wrong.empty() ? passed : failed);
    if (!wrong.empty()) std::printf("%s%s: %s\n", asked.id.c_str(), asked.provider ? ", provider" : "", wrong.c_str());
  }
  std::printf("onnxruntime %s: %d cases passed, %d failed, %d are too new for it\n", base->GetVersionString(), passed,
              failed, skipped);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return std::fprintf(stderr, "replay RUNTIME LIBRARY CASES\n"), 2;
  try {
    const int code = replay(arguments[1], arguments[2], arguments[3]);
    std::fflush(stdout);
    std::_Exit(code);  // what it made is still in use; emulators fail while libraries are taken down
  } catch (const std::runtime_error& error) {
    return std::fprintf(stderr, "replay: %s\n", error.what()), 1;
  }
}
