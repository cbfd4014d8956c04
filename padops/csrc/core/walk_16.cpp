#include "core/walk.h"

namespace padops {

template void Engine::run_bytes<16>(const Task&, const char*, char*, const char*, bool) const;
// 0: an element of any other size, such as one that contains trailing axes.
template void Engine::run_bytes<0>(const Task&, const char*, char*, const char*, bool) const;

}  // namespace padops
