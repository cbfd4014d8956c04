// Stands in for the official header where there is none: the entries that load.cpp, provider.cpp, beside.cpp and
// replay.cpp call, each in its slot of OrtApi. With -DPADOPS_ORT_INCLUDE_DIR=DIR tests/cpp/CMakeLists.txt takes the
// official one instead; slots.cpp compares it.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(_WIN32)
#define ORTCHAR_T wchar_t
#else
#define ORTCHAR_T char
#endif

struct OrtAllocator;
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
enum ONNXTensorElementDataType {
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT = 1,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16 = 5,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING = 8
};

using OrtEntry = void (*)();

struct OrtApi {
  OrtEntry slots_0_to_1[2];
  const char* (*GetErrorMessage)(const OrtStatus* status);
  OrtStatus* (*CreateEnv)(OrtLoggingLevel level, const char* id, OrtEnv** out);
  OrtEntry slots_4_to_6[3];
  OrtStatus* (*CreateSession)(const OrtEnv* env, const ORTCHAR_T* path, const OrtSessionOptions* options,
                              OrtSession** out);
  OrtStatus* (*CreateSessionFromArray)(const OrtEnv* env, const void* model, size_t bytes,
                                       const OrtSessionOptions* options, OrtSession** out);
  OrtStatus* (*Run)(OrtSession* session, const OrtRunOptions* options, const char* const* input_names,
                    const OrtValue* const* inputs, size_t inputs_count, const char* const* output_names,
                    size_t outputs_count, OrtValue** outputs);
  OrtStatus* (*CreateSessionOptions)(OrtSessionOptions** out);
  OrtEntry slots_11_to_23[13];
  OrtStatus* (*SetIntraOpNumThreads)(OrtSessionOptions* options, int threads);
  OrtEntry slots_25_to_47[23];
  OrtStatus* (*CreateTensorAsOrtValue)(OrtAllocator* allocator, const int64_t* shape, size_t rank,
                                       ONNXTensorElementDataType type, OrtValue** out);
  OrtStatus* (*CreateTensorWithDataAsOrtValue)(const OrtMemoryInfo* memory, void* data, size_t bytes,
                                               const int64_t* shape, size_t rank, ONNXTensorElementDataType type,
                                               OrtValue** out);
  OrtEntry slot_50;
  OrtStatus* (*GetTensorMutableData)(OrtValue* value, void** out);
  OrtEntry slot_52;
  OrtStatus* (*GetStringTensorDataLength)(const OrtValue* value, size_t* out);
  OrtStatus* (*GetStringTensorContent)(const OrtValue* value, void* out, size_t bytes, size_t* offsets, size_t count);
  OrtEntry slots_55_to_59[5];
  OrtStatus* (*GetTensorElementType)(const OrtTensorTypeAndShapeInfo* info, ONNXTensorElementDataType* out);
  OrtStatus* (*GetDimensionsCount)(const OrtTensorTypeAndShapeInfo* info, size_t* out);
  OrtStatus* (*GetDimensions)(const OrtTensorTypeAndShapeInfo* info, int64_t* dims, size_t rank);
  OrtEntry slot_63;
  OrtStatus* (*GetTensorShapeElementCount)(const OrtTensorTypeAndShapeInfo* info, size_t* out);
  OrtStatus* (*GetTensorTypeAndShape)(const OrtValue* value, OrtTensorTypeAndShapeInfo** out);
  OrtEntry slots_66_to_68[3];
  OrtStatus* (*CreateCpuMemoryInfo)(OrtAllocatorType allocator, OrtMemType memory, OrtMemoryInfo** out);
  OrtEntry slots_70_to_77[8];
  OrtStatus* (*GetAllocatorWithDefaultOptions)(OrtAllocator** out);
  OrtEntry slots_79_to_92[14];
  void (*ReleaseStatus)(OrtStatus* status);
  OrtEntry slot_94;
  void (*ReleaseSession)(OrtSession* session);
  void (*ReleaseValue)(OrtValue* value);
  OrtEntry slots_97_to_98[2];
  void (*ReleaseTensorTypeAndShapeInfo)(OrtTensorTypeAndShapeInfo* info);
  OrtEntry slots_100_to_215[116];
  OrtStatus* (*SessionOptionsAppendExecutionProvider)(OrtSessionOptions* options, const char* name,
                                                      const char* const* option_keys, const char* const* option_values,
                                                      size_t options_count);
  OrtEntry slots_217_to_227[11];
  OrtStatus* (*RegisterCustomOpsLibrary_V2)(OrtSessionOptions* options, const ORTCHAR_T* path);
  OrtEntry slots_229_to_251[23];
  OrtStatus* (*GetResizedStringTensorElementBuffer)(OrtValue* value, size_t index, size_t bytes, char** out);
  OrtEntry slots_253_to_300[48];
  OrtStatus* (*RegisterExecutionProviderLibrary)(OrtEnv* env, const char* name, const ORTCHAR_T* path);
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
