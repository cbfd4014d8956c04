// Runs a model of padops operators from C++: load LIBRARY MODEL, with the path that padops.get_library_path() gives.
#include <onnxruntime_c_api.h>

#include <cstdio>
#include <cstdlib>

static const OrtApi* const ort = OrtGetApiBase()->GetApi(17);

static void check(OrtStatus* status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "%s\n", ort->GetErrorMessage(status));
  std::exit(1);
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  OrtEnv* env = nullptr;
  OrtSessionOptions* options = nullptr;
  OrtSession* session = nullptr;
  check(ort->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "load", &env));
  check(ort->CreateSessionOptions(&options));
  check(ort->RegisterCustomOpsLibrary_V2(options, arguments[1]));  // the one line that padops needs
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
}  // A program that lives longer releases each of them: ort->ReleaseValue(y) and so on.
