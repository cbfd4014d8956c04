// Keeps the library loadable on glibc 2.28 when it is built on a newer one.
//
// A newer system's static libstdc++ and libgcc use functions that glibc added later or moved to a newer symbol version,
// mostly for features that padops never uses. This file defines them inside the library, so that the linker does not
// bind them to the C library. tests/test_library.py reads the symbol versions of the result.
#include <features.h>

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 28)

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

extern "C" {

// 2.32, read by libstdc++'s reference counts: false costs an atomic operation and is always safe.
char __libc_single_threaded = 0;

// 2.36, behind std::random_device.
__attribute__((nothrow)) uint32_t arc4random() {
  uint32_t value = 0;
  if (getentropy(&value, sizeof(value)) != 0) std::abort();
  return value;
}

// 2.34 moved these two. libgcc only checks whether the first exists, to detect threads, and never calls it.
int __pthread_key_create(pthread_key_t*, void (*)(void*)) { std::abort(); }

// An initializer may run another initializer: std::locale's does.
int pthread_once(pthread_once_t* control, void (*initialize)()) {
  static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  pthread_mutex_lock(&mutex);
  if (*control == PTHREAD_ONCE_INIT) {
    initialize();
    *control = PTHREAD_ONCE_INIT + 1;
  }
  pthread_mutex_unlock(&mutex);
  return 0;
}

#if __GLIBC_PREREQ(2, 35)

namespace {

struct Search {
  uintptr_t address;
  dl_find_object* result;
};

// Whether the loaded object `info` contains the address; if so, finds its exception tables.
int find_in_object(dl_phdr_info* info, size_t, void* user) {
  const auto& search = *static_cast<Search*>(user);
  void* tables = nullptr;
  uintptr_t begin = 0;
  uintptr_t end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = info->dlpi_phdr[i];
    const uintptr_t start = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_GNU_EH_FRAME) tables = reinterpret_cast<void*>(start);
    if (header.p_type != PT_LOAD || search.address < start || search.address >= start + header.p_memsz) continue;
    begin = start;
    end = start + header.p_memsz;
  }
  if (begin == end || tables == nullptr) return 0;
  *search.result = {};
  search.result->dlfo_map_start = reinterpret_cast<void*>(begin);
  search.result->dlfo_map_end = reinterpret_cast<void*>(end);
  search.result->dlfo_eh_frame = tables;
  return 1;
}

}  // namespace

// 2.35: by this, libgcc finds the tables of the functions that an exception passes.
int _dl_find_object(void* address, dl_find_object* result) noexcept {
  Search search{reinterpret_cast<uintptr_t>(address), result};
  return dl_iterate_phdr(find_in_object, &search) == 1 ? 0 : -1;
}

#endif

}  // extern "C"

#endif
