// Errors at the C ABI: turns the runtime's statuses into exceptions, and padops' exceptions into statuses.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "core/text.h"
#include "ort/ort_abi.h"

namespace padops {

constexpr const char* kOutOfMemory = "padops: out of memory [P10]";

// Throws std::runtime_error with the runtime's message, and releases the status.
[[noreturn]] inline void throw_status(const ort::Api& api, ort::Status* status) {
  const std::unique_ptr<ort::Status, void (*)(ort::Status*)> held(status, api.ReleaseStatus());
  std::string message = api.GetErrorMessage()(status);
  message.erase(message.find_last_not_of(" \n") + 1);  // some messages of the runtime end with a line break
  throw std::runtime_error(message);
}

// Throws unless the status is OK.
inline void check(const ort::Api& api, ort::Status* status) {
  if (status != nullptr) throw_status(api, status);
}

// Whether a status is OK, for calls whose failure is an answer. Releases the status.
inline bool succeeds(const ort::Api& api, ort::Status* status) {
  if (status == nullptr) return true;
  api.ReleaseStatus()(status);
  return false;
}

inline ort::Status* failure(const ort::Api& api, const char* message) {
  return api.CreateStatus()(ort::kInvalidArgument, message);
}

// Returns the status of work(). If work() throws, returns a status with where() and the exception's message, since no
// exception may cross the C ABI. If memory runs out, for the work or for that message, the status has `out_of_memory`,
// a text that already exists.
template <class Where, class Work>
ort::Status* guarded(const ort::Api& api, const char* out_of_memory, Where where, Work work) noexcept {
  try {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      return failure(api, text(where(), error.what()).c_str());
    }
  } catch (...) {  // only std::bad_alloc is left, from the work or from the text
    return failure(api, out_of_memory);
  }
}

}  // namespace padops
