// Builds messages with the same words as Python's. It uses no stream: libstdc++'s streams would bind the library to the
// build machine's glibc.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace padops {

inline void append(std::string& out, std::string_view part) { out += part; }
inline void append(std::string& out, char part) { out += part; }

template <std::integral Number>
void append(std::string& out, Number part) {
  out += std::to_string(part);
}

template <class... Parts>
std::string text(const Parts&... parts) {
  std::string out;
  (append(out, parts), ...);
  return out;
}

// "1 value", "2 values"
template <std::integral Number>
std::string plural(Number count, std::string_view noun) {
  return text(count, ' ', noun, count == 1 ? "" : "s");
}

// "first, second, third"
template <class List>
std::string joined(const List& list) {
  std::string out;
  for (const auto& part : list) {
    if (&part != &*std::begin(list)) out += ", ";
    append(out, part);
  }
  return out;
}

// "[1, 2, 3]", as Python prints a list.
inline std::string bracketed(const std::vector<int64_t>& list) { return text('[', joined(list), ']'); }

}  // namespace padops
