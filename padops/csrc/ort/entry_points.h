// Shared by the library's entry points: their export, and the version of the runtime that calls them.
#pragma once

#include <charconv>
#include <string_view>

#if defined(_WIN32)
#define PADOPS_EXPORT extern "C" __declspec(dllexport)
#else
#define PADOPS_EXPORT extern "C" __attribute__((visibility("default")))
#endif

namespace padops {

// The minor version of onnxruntime 1.x, from "1.31.1"; later major versions count as newer than any.
inline int runtime_minor(std::string_view version) {
  int major = 0;
  int minor = 0;
  const char* end = version.data() + version.size();
  const auto dot = std::from_chars(version.data(), end, major);
  if (dot.ptr != end) std::from_chars(dot.ptr + 1, end, minor);
  return major > 1 ? 1000000 : minor;
}

}  // namespace padops
