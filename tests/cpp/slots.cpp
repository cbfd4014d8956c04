// Proves where the header, the stand-in or the official one, has the entries that load.cpp and provider.cpp call.
#include <onnxruntime_c_api.h>

#include <cstddef>

#define AT(slot, name) static_assert(offsetof(OrtApi, name) == slot * sizeof(void*), #name " is not in slot " #slot);
AT(2, GetErrorMessage)
AT(3, CreateEnv)
AT(7, CreateSession)
AT(9, Run)
AT(10, CreateSessionOptions)
AT(49, CreateTensorWithDataAsOrtValue)
AT(51, GetTensorMutableData)
AT(64, GetTensorShapeElementCount)
AT(65, GetTensorTypeAndShape)
AT(69, CreateCpuMemoryInfo)
AT(228, RegisterCustomOpsLibrary_V2)
AT(301, RegisterExecutionProviderLibrary)
AT(303, GetEpDevices)
AT(304, SessionOptionsAppendExecutionProvider_V2)
AT(312, EpDevice_EpName)

static_assert(ORT_LOGGING_LEVEL_FATAL == 4 && OrtArenaAllocator == 1 && OrtMemTypeDefault == 0);
static_assert(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT == 1 && ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16 == 5);
