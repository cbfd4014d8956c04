// Stands in for the official header where there is none: the entries that load.cpp and provider.cpp call, each in its
// slot of OrtApi. With -DPADOPS_ORT_INCLUDE_DIR=DIR tests/cpp/CMakeLists.txt takes the official one instead; slots.cpp
// compares it.
#pragma once

#include <cstddef>
#include <cstdint>

struct OrtEnv;
struct OrtEpDevice;
struct OrtMemoryInfo;
struct OrtRunOptions;
struct OrtSession;
struct OrtSessionOptions;
struct OrtStatus;
struct OrtTensorTypeAndShapeInfo;
struct OrtValue;

enum OrtLoggingLevel { ORT_LOGGING_LEVEL_FATAL = 4 };
enum OrtAllocatorType { OrtArenaAllocator = 1 };
enum OrtMemType { OrtMemTypeDefault = 0 };
enum ONNXTensorElementDataType { ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT = 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16 = 5 };

using OrtEntry = void (*)();

struct OrtApi {
  OrtEntry slots_0_to_1[2];
  const char* (*GetErrorMessage)(const OrtStatus* status);
  OrtStatus* (*CreateEnv)(OrtLoggingLevel level, const char* id, OrtEnv** out);
  OrtEntry slots_4_to_6[3];
  OrtStatus* (*CreateSession)(const OrtEnv* env, const char* path, const OrtSessionOptions* options, OrtSession** out);
  OrtEntry slot_8;
  OrtStatus* (*Run)(OrtSession* session, const OrtRunOptions* options, const char* const* input_names,
                    const OrtValue* const* inputs, size_t inputs_count, const char* const* output_names,
                    size_t outputs_count, OrtValue** outputs);
  OrtStatus* (*CreateSessionOptions)(OrtSessionOptions** out);
  OrtEntry slots_11_to_48[38];
  OrtStatus* (*CreateTensorWithDataAsOrtValue)(const OrtMemoryInfo* memory, void* data, size_t bytes,
                                               const int64_t* shape, size_t rank, ONNXTensorElementDataType type,
                                               OrtValue** out);
  OrtEntry slot_50;
  OrtStatus* (*GetTensorMutableData)(OrtValue* value, void** out);
  OrtEntry slots_52_to_63[12];
  OrtStatus* (*GetTensorShapeElementCount)(const OrtTensorTypeAndShapeInfo* info, size_t* out);
  OrtStatus* (*GetTensorTypeAndShape)(const OrtValue* value, OrtTensorTypeAndShapeInfo** out);
  OrtEntry slots_66_to_68[3];
  OrtStatus* (*CreateCpuMemoryInfo)(OrtAllocatorType allocator, OrtMemType memory, OrtMemoryInfo** out);
  OrtEntry slots_70_to_227[158];
  OrtStatus* (*RegisterCustomOpsLibrary_V2)(OrtSessionOptions* options, const char* path);
  OrtEntry slots_229_to_300[72];
  OrtStatus* (*RegisterExecutionProviderLibrary)(OrtEnv* env, const char* name, const char* path);
  OrtEntry slot_302;
  OrtStatus* (*GetEpDevices)(const OrtEnv* env, const OrtEpDevice* const** out, size_t* count);
  OrtStatus* (*SessionOptionsAppendExecutionProvider_V2)(OrtSessionOptions* options, OrtEnv* env,
                                                         const OrtEpDevice* const* devices, size_t count,
                                                         const char* const* option_keys,
                                                         const char* const* option_values, size_t options_count);
  OrtEntry slots_305_to_311[7];
  const char* (*EpDevice_EpName)(const OrtEpDevice* device);
};

struct OrtApiBase {
  const OrtApi* (*GetApi)(uint32_t version);
  const char* (*GetVersionString)();
};

extern "C" const OrtApiBase* OrtGetApiBase();
