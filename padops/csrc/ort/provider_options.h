// A provider of one session, and its options.
#pragma once

#include <list>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/provider_rules.h"
#include "ort/provider.h"

namespace padops {

struct Provider : ort::Ep {
  const Factory* factory = nullptr;
  bool only_needed = false;         // claim=needed
  bool float16_native = false;      // float16=native
  std::string before;               // the names of the providers behind this provider
  std::string rules;                // files of rules that precede the library's, one per line
  std::list<Json> files;            // their content
  std::vector<ProviderRow> behind;  // the providers behind this one that have rules
  std::string report;               // a file: claims nothing, but lists its options and Pads there
};

// Appends to the file of the option `report`.
void append_to_file(const std::string& path, const std::string& content);

// Sets a provider's options from a session's configuration entries.
void read_options(Provider& provider, const ort::SessionOptions* options);

}  // namespace padops
