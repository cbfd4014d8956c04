// The tables of this library as JSON, so that Python can show them, and tests compare them with Python's own.
#pragma once

#include <string>

namespace padops {

// The text lives as long as the library.
const std::string& describe();

}  // namespace padops
