// Messages are put together here, so that they read the same as Python's.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace padops {

template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

// "first, second, third"
template <class List>
std::string joined(const List& list, const char* separator = ", ") {
  std::ostringstream out;
  const char* between = "";
  for (const auto& part : list) {
    out << between << part;
    between = separator;
  }
  return out.str();
}

// "[1, 2, 3]", as Python prints a list.
inline std::string bracketed(const std::vector<int64_t>& list) { return text("[", joined(list), "]"); }

}  // namespace padops
