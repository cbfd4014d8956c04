// Runs an unmodified model with another execution provider, and padops beside it:
//   beside LIBRARY MODEL OpenVINOExecutionProvider OpenVINO
// with the path that padops.get_library_path() gives, the provider's name, and the one by which ONNX Runtime appends
// it. Without a provider the model runs on the processor. It takes x, floats [2, 3], and gives y.
#include <onnxruntime_c_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

static const OrtApi* ort = nullptr;

static void check(OrtStatus* status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "%s\n", ort->GetErrorMessage(status));
  std::exit(1);
}

// Appends the device of a provider of a library, with an option; gives false where there is none.
static bool append(OrtEnv* env, OrtSessionOptions* options, const char* provider, const char* key = nullptr,
                   const char* value = nullptr) {
  const OrtEpDevice* const* devices = nullptr;
  size_t count = 0;
  check(ort->GetEpDevices(env, &devices, &count));
  for (size_t i = 0; i < count; ++i) {
    if (std::strcmp(ort->EpDevice_EpName(devices[i]), provider) != 0) continue;
    check(ort->SessionOptionsAppendExecutionProvider_V2(options, env, &devices[i], 1, &key, &value, key != nullptr));
    return true;
  }
  return false;
}

int main(int count, char** arguments) {
  if (count != 3 && count != 5) return 2;
  const char* provider = count == 5 ? arguments[3] : "CPUExecutionProvider";
  ort = OrtGetApiBase()->GetApi(24);
  if (ort == nullptr) return 3;  // onnxruntime 1.24 is the first with providers of libraries
  OrtEnv* env = nullptr;
  OrtSessionOptions* options = nullptr;
  OrtSession* session = nullptr;
  check(ort->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "beside", &env));
  check(ort->RegisterExecutionProviderLibrary(env, "padops", arguments[1]));
  check(ort->CreateSessionOptions(&options));
  // What the provider does not run correctly, the provider, what is left for the processor, the processor.
  append(env, options, "PadopsFirstExecutionProvider", "before", provider);
  if (count == 5 && !append(env, options, provider))  // it is built in
    check(ort->SessionOptionsAppendExecutionProvider(options, arguments[4], nullptr, nullptr, 0));
  append(env, options, "PadopsExecutionProvider");
  append(env, options, "CPUExecutionProvider");
  check(ort->CreateSession(env, arguments[2], options, &session));

  float data[] = {1, 2, 3, 4, 5, 6}, *padded = nullptr;
  const int64_t shape[] = {2, 3};
  const char *input = "x", *output = "y";
  OrtMemoryInfo* cpu = nullptr;
  OrtValue *x = nullptr, *y = nullptr;
  check(ort->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &cpu));
  check(ort->CreateTensorWithDataAsOrtValue(cpu, data, sizeof data, shape, 2, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &x));
  check(ort->Run(session, nullptr, &input, &x, 1, &output, 1, &y));

  OrtTensorTypeAndShapeInfo* info = nullptr;
  size_t elements = 0;
  check(ort->GetTensorTypeAndShape(y, &info));
  check(ort->GetTensorShapeElementCount(info, &elements));
  check(ort->GetTensorMutableData(y, reinterpret_cast<void**>(&padded)));
  for (size_t i = 0; i < elements; ++i) std::printf("%g ", padded[i]);
  std::fflush(stdout);
  ort->ReleaseSession(session);  // before the provider's library is gone, and so is its device
}
