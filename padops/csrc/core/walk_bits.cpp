#include "copy/sub_byte_writer.h"
#include "core/walk.h"

namespace padops {

void Engine::run_bits(const Task& task, bool is_last, const char* source, char* output, char fill) const {
  unsigned pattern = static_cast<unsigned char>(fill);
  for (int width = bits_; width < 8; width *= 2) pattern |= pattern << width;
  // The unused bits of the last byte are 0.
  const int64_t bits = rows_ * inner_.output * element_;
  if (is_last && bits % 8 != 0) output[bits / 8] = 0;
  with_target(thresholds_.copy.avx2, [&]<class Target>(Target) {
    SubByteWriter<Target> writer{reinterpret_cast<const uint8_t*>(source), reinterpret_cast<uint8_t*>(output),
                                 static_cast<uint8_t>(pattern), static_cast<uint64_t>(element_), bordered_};
    walk(task, writer);
  });
}

}  // namespace padops
