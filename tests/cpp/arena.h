// Memory that shows every access outside it.
#pragma once

#if defined(_WIN32)
#define NOMINMAX
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#define ENGINE_CHECK_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ENGINE_CHECK_ASAN 1
#endif
#endif
#if defined(ENGINE_CHECK_ASAN)
#include <sanitizer/asan_interface.h>
#endif

// Memory between two pages that nobody may touch. The bytes around those in use have a known value, and must keep it.
class Arena {
 public:
  // Room for `bytes` bytes at offsets and alignments of up to 512 bytes.
  explicit Arena(size_t bytes) : size_((bytes + 512) / kPage * kPage + 2 * kPage) {
    begin_ = map(size_ + 2 * kPage) + kPage;
    forbid(begin_ - kPage);
    forbid(begin_ + size_);
  }

  // Gives room for so many bytes, `offset` bytes from the beginning or from the end.
  char* place(size_t bytes, size_t offset, bool flush_right) {
    bytes_ = bytes;
    at_ = flush_right ? begin_ + size_ - offset - bytes : begin_ + offset;
    open();
    std::memset(guard_begin(), kGuard, static_cast<size_t>(guard_end() - guard_begin()));
    close();
    return at_;
  }

  // Whether the bytes around those in use have kept their value.
  bool intact() {
    open();
    const auto is_guard = [](char byte) { return byte == kGuard; };
    const bool is = std::all_of(guard_begin(), at_, is_guard) && std::all_of(at_ + bytes_, guard_end(), is_guard);
    close();
    return is;
  }

 private:
  static constexpr size_t kPage = size_t{64} << 10;  // a multiple of the page of every processor
  static constexpr char kGuard = 0x3C;
  static constexpr ptrdiff_t kAround = 256;

#if defined(_WIN32)
  static char* map(size_t bytes) {
    void* all = VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (all == nullptr) std::abort();
    return static_cast<char*>(all);
  }
  static void forbid(char* begin) {
    DWORD before = 0;
    if (!VirtualProtect(begin, kPage, PAGE_NOACCESS, &before)) std::abort();
  }
#else
  static char* map(size_t bytes) {
    void* all = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) std::abort();
    return static_cast<char*>(all);
  }
  static void forbid(char* begin) {
    if (mprotect(begin, kPage, PROT_NONE) != 0) std::abort();
  }
#endif

  char* guard_begin() const { return std::max(begin_, at_ - kAround); }
  char* guard_end() const { return std::min(begin_ + size_, at_ + bytes_ + kAround); }

#if defined(ENGINE_CHECK_ASAN)
  void open() { __asan_unpoison_memory_region(begin_, size_); }
  void close() {
    __asan_poison_memory_region(begin_, static_cast<size_t>(at_ - begin_));
    __asan_poison_memory_region(at_ + bytes_, static_cast<size_t>(begin_ + size_ - at_ - bytes_));
  }
#else
  void open() {}
  void close() {}
#endif

  size_t size_;
  char* begin_ = nullptr;
  char* at_ = nullptr;
  size_t bytes_ = 0;
};
