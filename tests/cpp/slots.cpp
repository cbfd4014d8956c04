// Proves where the header, the stand-in or the official one, has the entries that load.cpp, provider.cpp, beside.cpp
// and replay.cpp call.
#include <onnxruntime_c_api.h>

#include <cstddef>

#define AT(slot, name) static_assert(offsetof(OrtApi, name) == slot * sizeof(void*), #name " is not in slot " #slot);
AT(2, GetErrorMessage)
AT(3, CreateEnv)
AT(7, CreateSession)
AT(8, CreateSessionFromArray)
AT(9, Run)
AT(10, CreateSessionOptions)
AT(24, SetIntraOpNumThreads)
AT(48, CreateTensorAsOrtValue)
AT(49, CreateTensorWithDataAsOrtValue)
AT(51, GetTensorMutableData)
AT(53, GetStringTensorDataLength)
AT(54, GetStringTensorContent)
AT(60, GetTensorElementType)
AT(61, GetDimensionsCount)
AT(62, GetDimensions)
AT(64, GetTensorShapeElementCount)
AT(65, GetTensorTypeAndShape)
AT(69, CreateCpuMemoryInfo)
AT(78, GetAllocatorWithDefaultOptions)
AT(93, ReleaseStatus)
AT(95, ReleaseSession)
AT(96, ReleaseValue)
AT(99, ReleaseTensorTypeAndShapeInfo)
AT(216, SessionOptionsAppendExecutionProvider)
AT(228, RegisterCustomOpsLibrary_V2)
AT(252, GetResizedStringTensorElementBuffer)
AT(301, RegisterExecutionProviderLibrary)
AT(303, GetEpDevices)
AT(304, SessionOptionsAppendExecutionProvider_V2)
AT(312, EpDevice_EpName)

static_assert(ORT_LOGGING_LEVEL_FATAL == 4 && OrtArenaAllocator == 1 && OrtMemTypeDefault == 0);
static_assert(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT == 1 && ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16 == 5);
static_assert(ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING == 8);
