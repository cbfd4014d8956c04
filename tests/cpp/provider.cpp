// Runs any model, converted or as it is: provider LIBRARY MODEL, with the path that padops.get_library_path() gives.
// The model takes x, int16 [2, 3], and gives y. With the packages of ONNX Runtime and padops in folders of their names:
//   g++ -std=c++17 provider.cpp -Ionnxruntime/include -Ipadops/include -Lonnxruntime/lib -lonnxruntime -o provider
#include <onnxruntime_c_api.h>
#include <padops.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

static const OrtApi* ort = nullptr;

static void check(OrtStatus* status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "%s\n", ort->GetErrorMessage(status));
  std::exit(1);
}

// Puts the first device of a provider into the options. Providers that are put first run what they can.
static void append(OrtEnv* env, OrtSessionOptions* options, const char* provider) {
  const OrtEpDevice* const* devices = nullptr;
  size_t count = 0;
  check(ort->GetEpDevices(env, &devices, &count));
  for (size_t i = 0; i < count; ++i)
    if (std::strcmp(ort->EpDevice_EpName(devices[i]), provider) == 0)
      return check(ort->SessionOptionsAppendExecutionProvider_V2(options, env, &devices[i], 1, nullptr, nullptr, 0));
  std::fprintf(stderr, "there is no %s\n", provider);
  std::exit(1);
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  ort = OrtGetApiBase()->GetApi(24);  // null where the runtime is older, which has fewer entries
  if (ort == nullptr) {
    std::fprintf(stderr, "the provider needs onnxruntime 1.24 or newer, this is %s\n",
                 OrtGetApiBase()->GetVersionString());
    return 3;
  }
  OrtEnv* env = nullptr;
  OrtSessionOptions* options = nullptr;
  OrtSession* session = nullptr;
  check(ort->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "provider", &env));
  check(ort->RegisterExecutionProviderLibrary(env, "padops", arguments[1]));  // once for each environment
  check(ort->CreateSessionOptions(&options));
  append(env, options, PADOPS_OPERATORS_EXECUTION_PROVIDER);  // the operators of a converted model
  append(env, options, PADOPS_EXECUTION_PROVIDER);            // the Pads of a model that is left as it is
  append(env, options, "CPUExecutionProvider");               // the rest
  check(ort->CreateSession(env, arguments[2], options, &session));

  int16_t data[] = {1, 2, 3, 4, 5, 6}, *padded = nullptr;
  const int64_t shape[] = {2, 3};
  const char *input = "x", *output = "y";
  OrtMemoryInfo* cpu = nullptr;
  OrtValue *x = nullptr, *y = nullptr;
  check(ort->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &cpu));
  check(ort->CreateTensorWithDataAsOrtValue(cpu, data, sizeof data, shape, 2, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, &x));
  check(ort->Run(session, nullptr, &input, &x, 1, &output, 1, &y));

  OrtTensorTypeAndShapeInfo* info = nullptr;
  size_t elements = 0;
  check(ort->GetTensorTypeAndShape(y, &info));
  check(ort->GetTensorShapeElementCount(info, &elements));
  check(ort->GetTensorMutableData(y, reinterpret_cast<void**>(&padded)));
  for (size_t i = 0; i < elements; ++i) std::printf("%d ", padded[i]);
}  // A program that lives longer releases each of them: ort->ReleaseSession(session) and so on.
