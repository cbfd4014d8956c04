#include "ort/status.h"

#include <memory>
#include <stdexcept>
#include <string>

namespace padops {

void throw_status(const ort::Api& api, ort::Status* status) {
  const std::unique_ptr<ort::Status, void (*)(ort::Status*)> held(status, api.ReleaseStatus());
  std::string message = api.GetErrorMessage()(status);
  message.erase(message.find_last_not_of(" \n") + 1);  // some messages of the runtime end with a line break
  throw std::runtime_error(message);
}

}  // namespace padops
