#include "core/walk.h"

namespace padops {

template void Engine::run_bytes<4>(const Task&, const char*, char*, const char*, bool) const;
template void Engine::run_bytes<8>(const Task&, const char*, char*, const char*, bool) const;

}  // namespace padops
