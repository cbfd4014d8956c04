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
  std::string before;               // the names of the providers behind it
  std::string rules;                // files that go before the rules of the library, one in a line
  std::list<Json> files;            // their content
  std::vector<ProviderRow> behind;  // the providers behind it that have rules
  std::string report;               // a file: it takes nothing, and writes there what it is told and would take
};

// Appends to the file of the option `report`.
void append_to_file(const std::string& path, const std::string& content);

// Sets a provider's options from a session's configuration entries.
void read_options(Provider& provider, const ort::SessionOptions* options);

}  // namespace padops
