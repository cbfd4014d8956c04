#include "core/walk.h"

namespace padops {

template void Engine::run_bytes<1>(const Task&, const char*, char*, const char*, bool) const;
template void Engine::run_bytes<2>(const Task&, const char*, char*, const char*, bool) const;

}  // namespace padops
