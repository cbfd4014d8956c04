#include "core/thresholds.h"

#include <charconv>
#include <cstdio>

namespace padops {

namespace {

// Bytes of the last-level cache, as the Linux kernel reports them ("32768K"); 0 if unknown. sysconf is useless: on some
// virtual machines its number is ten times too large.
int64_t last_cache_bytes() {
  std::FILE* file = std::fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
  if (file == nullptr) return 0;
  char line[32];
  const size_t length = std::fread(line, 1, sizeof(line), file);
  std::fclose(file);
  int64_t size = 0;
  const auto [end, error] = std::from_chars(line, line + length, size);
  return error == std::errc() && end != line + length && *end == 'K' ? size * 1024 : 0;
}

Thresholds measure() {
  Thresholds found;
  // From three quarters of the cache on, source and output evict each other. Measured, also with an operator that reads
  // the output.
  if (const int64_t cache = last_cache_bytes(); cache > 0) found.streamed = cache / 4 * 3;
  found.copy = copy_of_this_machine();
  return found;
}

}  // namespace

const Thresholds& Thresholds::of_this_machine() {
  static const Thresholds found = measure();
  return found;
}

}  // namespace padops
