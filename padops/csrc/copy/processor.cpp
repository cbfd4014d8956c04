#include "copy/processor.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "copy/platform.h"

#if PADOPS_SSE2 && !defined(_MSC_VER)
#include <cpuid.h>
#endif

namespace padops {

#if PADOPS_SSE2

namespace {

struct Registers {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
};

// CPUID's answer to a query; zeros if the processor does not support the query.
Registers ask(unsigned leaf) {
  Registers said;
#if defined(_MSC_VER)
  int most[4];
  __cpuid(most, 0);
  if (static_cast<unsigned>(most[0]) < leaf) return said;
  int parts[4];
  __cpuidex(parts, static_cast<int>(leaf), 0);
  said = {static_cast<unsigned>(parts[0]), static_cast<unsigned>(parts[1]), static_cast<unsigned>(parts[2]),
          static_cast<unsigned>(parts[3])};
#else
  __get_cpuid_count(leaf, 0, &said.eax, &said.ebx, &said.ecx, &said.edx);
#endif
  return said;
}

}  // namespace

Processor this_processor() {
  Processor found;
  const Registers vendor = ask(0);
  found.amd = vendor.ebx == 0x68747541 && vendor.edx == 0x69746E65 && vendor.ecx == 0x444D4163;  // "AuthenticAMD"
  const unsigned version = ask(1).eax;
  const unsigned family = version >> 8 & 0xF;
  found.family = static_cast<int>(family == 0xF ? family + (version >> 20 & 0xFF) : family);
  found.short_string_moves = (ask(7).edx >> 4 & 1) != 0;
#if PADOPS_AVX2
  found.avx2 = __builtin_cpu_supports("avx2");  // asks the system as well, whether it saves the registers
#endif
  return found;
}

#else

Processor this_processor() { return {}; }

#endif

CopyChoice named_copy(std::string_view name, const Processor& processor) {
  if (name == "baseline") return {};
  if (name == "avx2") return {processor.avx2, INT64_MAX};
  if (name == "string") return {processor.avx2, kStringFrom};
  throw std::invalid_argument("PADOPS_COPY is '" + std::string(name) + "', expected baseline, avx2 or string");
}

CopyChoice copy_of_this_machine() {
  const char* asked = std::getenv("PADOPS_COPY");
  const Processor processor = this_processor();
  return asked == nullptr || *asked == '\0' ? choose_copy(processor) : named_copy(asked, processor);
}

}  // namespace padops
