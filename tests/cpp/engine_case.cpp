#include "engine_case.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "engine.h"
#include "plan.h"
#include "text.h"

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

namespace {

using namespace padops;

constexpr int64_t kMaxBits = int64_t{8} * 48 * 1024;  // of a source or an output
constexpr size_t kMaxTraced = size_t{2} << 20;        // bytes to look at, in the cases whose tasks run alone
constexpr int64_t kNever = int64_t{1} << 40;

char described[2048];

struct Case {
  int bits = 8;
  Mode mode = Mode::kConstant;
  Rules rules;
  std::vector<int64_t> shape;
  std::vector<Amounts> amounts;
  Thresholds thresholds;
  uint64_t source_offset = 0;
  uint64_t output_offset = 0;
  bool flush_right = false;
};

// Memory between two pages that nobody may touch. What is around the bytes in use is known, and must stay.
class Arena {
 public:
  Arena() : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))), size_((kMaxBits / 8 + 512) / page_ * page_ + 2 * page_) {
    void* all = mmap(nullptr, size_ + 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) std::abort();
    begin_ = static_cast<char*>(all) + page_;
    mprotect(all, page_, PROT_NONE);
    mprotect(begin_ + size_, page_, PROT_NONE);
  }

  // Room for so many bytes, `offset` bytes from the beginning or from the end.
  char* place(size_t bytes, size_t offset, bool flush_right) {
    bytes_ = bytes;
    at_ = flush_right ? begin_ + size_ - offset - bytes : begin_ + offset;
    open();
    std::memset(guard_begin(), kGuard, static_cast<size_t>(guard_end() - guard_begin()));
    close();
    return at_;
  }

  // Whether what is around the bytes is as it was.
  bool intact() {
    open();
    const auto is_guard = [](char byte) { return byte == kGuard; };
    const bool is = std::all_of(guard_begin(), at_, is_guard) && std::all_of(at_ + bytes_, guard_end(), is_guard);
    close();
    return is;
  }

 private:
  static constexpr char kGuard = 0x3C;
  static constexpr ptrdiff_t kAround = 256;

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

  size_t page_;
  size_t size_;
  char* begin_ = nullptr;
  char* at_ = nullptr;
  size_t bytes_ = 0;
};

int64_t bytes_of(int64_t elements, int bits) { return (elements * bits + 7) / 8; }

int64_t amount(Draw& draw, int64_t size) {
  if (draw.below(250) == 0) return draw.pick({-kLargest, int64_t{1} << 40, kLargest, kLargest + 1, INT64_MIN, INT64_MAX});
  switch (draw.below(8)) {
    case 0: return draw.between(1, 8);
    case 1: return draw.between(0, std::max<int64_t>(size, 1));
    case 2: return draw.between(0, 3 * size + 1);
    case 3: return draw.between(0, 70);
    case 4: return draw.between(-size * (draw.chance(30) ? 9 : 1) - 2, -1);
    case 5: return draw.between(-2, 2);
    default: return 0;
  }
}

int64_t dim(Draw& draw, bool innermost) {
  switch (draw.below(innermost ? 5 : 12)) {
    case 0: return draw.between(1, 9);
    case 1: return draw.between(10, 140);
    case 2: return innermost ? draw.between(140, 2000) : draw.between(1, 30);
    case 3: return draw.between(60, 70);
    case 4: return innermost ? 1 : draw.between(0, 1);
    default: return draw.between(1, 5);
  }
}

Thresholds thresholds(Draw& draw) {
  Thresholds drawn = Thresholds::of_this_machine();
  drawn.avx2 = drawn.avx2 && draw.chance(60);
  drawn.shared = draw.pick({int64_t{0}, int64_t{64}, int64_t{700}, kNever});
  drawn.min_task = draw.pick({1, 7, 32, 64, 100, 256, 1000});
  drawn.max_task = drawn.min_task * draw.between(1, 8);
  drawn.streamed = draw.pick({int64_t{0}, int64_t{0}, int64_t{500}, int64_t{3000}, kNever});
  drawn.streaming_threads = draw.between(1, 3);
  drawn.bytes_per_joint = draw.pick({0, 0, 40, 160});
  return drawn;
}

Case drawn(Draw& draw) {
  Case one;
  one.bits = draw.pick({8, 8, 16, 32, 32, 64, 128, 4, 4, 2});
  one.mode = draw.pick({Mode::kConstant, Mode::kConstant, Mode::kEdge, Mode::kEdge, Mode::kReflect, Mode::kSymmetric,
                        Mode::kWrap});
  const bool interior = one.mode == Mode::kConstant && draw.chance(20);
  if (draw.chance(40)) one.rules = {Crop::kFull, draw.chance(50) ? Limit::kOpenVINO : Limit::kNGraph, draw.chance(50)};
  const auto rank = draw.pick({1, 1, 2, 2, 3, 3, 4, 5, 0});
  if (rank == 0 && draw.chance(10)) {  // more axes than the engine has room for
    one.shape.assign(70, 1);
    one.amounts.assign(70, {1, -1, 0});
  }
  const bool trailing = draw.chance(25);  // an axis behind the padded ones makes elements of any width
  const bool usual = draw.chance(30);  // long rows between short borders, of whole bytes
  for (int i = 0; i < rank; ++i) {
    one.shape.push_back(dim(draw, i + 1 + trailing == rank));
    Amounts pads;
    const bool last = i + 1 + trailing == rank;
    if (i + 1 == rank ? !trailing : draw.chance(60)) {
      pads = {amount(draw, one.shape.back()), amount(draw, one.shape.back()), 0};
      if (interior) pads.interior = draw.pick({0, 1, 2, 7, 40});
      if (draw.below(250) == 0) pads.interior = draw.pick({int64_t{-1}, kLargest / 2, kLargest, INT64_MAX});
    }
    if (usual && i + 1 > rank - trailing) one.shape.back() = draw.between(1, 5);
    if (usual && last) {
      const int64_t whole = draw.chance(70) ? 4 : 1;
      one.shape.back() = draw.between(5, 150) * whole;
      pads.begin = draw.between(0, 8 * whole);
      pads.end = draw.between(1, 6) * whole - pads.begin % whole;
    }
    one.amounts.push_back(pads);
  }
  one.thresholds = thresholds(draw);
  one.source_offset = draw.chance(50) ? 0 : draw.below(64);
  one.output_offset = draw.chance(50) ? 0 : draw.below(64);
  one.flush_right = draw.chance(50);
  return one;
}

std::string words(const Case& one) {
  std::string pads;
  for (const Amounts& each : one.amounts) pads += text(" ", each.begin, "/", each.end, "/", each.interior);
  const Thresholds& t = one.thresholds;
  return text(one.bits, " bits, ", mode_name(one.mode), one.rules.crop == Crop::kFull ? " FULL" : " CROP", ", shape ",
              bracketed(one.shape), ", begin/end/interior", pads, ", shared ", t.shared, ", tasks ", t.min_task, "-",
              t.max_task, ", streamed ", t.streamed, " x", t.streaming_threads, ", joints ", t.bytes_per_joint,
              ", avx2 ", static_cast<int>(t.avx2), ", source +", one.source_offset, ", output +", one.output_offset,
              one.flush_right ? " from the end" : " from the beginning");
}

// The bytes of the output as the map gives them.
std::vector<char> mapped(const Plan& plan, int bits, const char* source, const char* fill, size_t bytes) {
  std::vector<char> out(bytes, 0);
  int64_t at = 0;
  const auto copy_bytes = [&](int64_t index) {
    const size_t width = bits / 8;
    std::memcpy(out.data() + at++ * width, index == kFill ? fill : source + index * width, width);
  };
  const auto copy_bits = [&](int64_t index) {
    const int per_byte = 8 / bits;
    const auto byte = static_cast<unsigned char>(index == kFill ? *fill : source[index / per_byte]);
    const unsigned element = (index == kFill ? byte : byte >> index % per_byte * bits) & ((1u << bits) - 1);
    char& to = out[at / per_byte];
    to = static_cast<char>(static_cast<unsigned char>(to) | element << at++ % per_byte * bits);
  };
  if (bits < 8) {
    for_each_source(plan, copy_bits);
  } else {
    for_each_source(plan, copy_bytes);
  }
  return out;
}

struct Memory {
  Arena source;
  Arena one;
  Arena other;
};

// Runs each task by itself in two memories that differ in every byte; gives what is wrong.
std::string run_alone(const Engine& engine, const Case& one, const char* source, const char* fill,
                      const std::vector<char>& expected, Memory& memory) {
  constexpr char kBefore = 0x5A;
  const size_t bytes = expected.size();
  char* low = memory.one.place(bytes, one.output_offset, one.flush_right);
  char* high = memory.other.place(bytes, one.output_offset, one.flush_right);
  std::memset(low, kBefore, bytes);
  std::memset(high, ~kBefore, bytes);
  std::vector<int64_t> writer(bytes, -1);
  for (size_t task = 0; task < engine.tasks(); ++task) {
    engine.run(task, source, low, fill);
    engine.run(task, source, high, fill);
    for (size_t i = 0; i < bytes; ++i) {
      if (low[i] == kBefore && high[i] == static_cast<char>(~kBefore)) continue;
      if (writer[i] >= 0) return text("byte ", i, " is written by tasks ", writer[i], " and ", task);
      writer[i] = static_cast<int64_t>(task);
      if (low[i] != high[i]) return text("byte ", i, " keeps bits of what was there before task ", task);
      if (low[i] != expected[i])
        return text("byte ", i, " is ", static_cast<int>(low[i]), ", expected ", static_cast<int>(expected[i]),
                    ", task ", task);
      low[i] = kBefore;
      high[i] = static_cast<char>(~kBefore);
    }
  }
  const auto missing = std::find(writer.begin(), writer.end(), -1);
  if (missing != writer.end()) return text("byte ", missing - writer.begin(), " is written by no task");
  return memory.one.intact() && memory.other.intact() ? "" : "memory outside the output has changed";
}

// Runs all tasks, `threads` at a time, in this order; gives what is wrong.
std::string run_together(const Engine& engine, const Case& one, const char* source, const char* fill,
                         const std::vector<char>& expected, std::span<const size_t> order, size_t threads,
                         Memory& memory) {
  char* output = memory.one.place(expected.size(), one.output_offset, one.flush_right);
  std::memset(output, 0x77, expected.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < order.size(); i = next++) engine.run(order[i], source, output, fill);
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  const auto [wrong, right] = std::mismatch(output, output + expected.size(), expected.begin());
  if (right != expected.end())
    return text("byte ", right - expected.begin(), " is ", static_cast<int>(*wrong), ", expected ",
                static_cast<int>(*right), ", with ", threads, " threads");
  return memory.one.intact() ? "" : text("memory outside the output has changed, with ", threads, " threads");
}

void count_ways(const Engine& engine, const Case& one, Ways& ways) {
  const char* width = one.bits < 8 ? "sub-byte" : "bytes";
  ++ways[text(mode_name(one.mode), ", ", width)];
  const bool interior = std::any_of(one.amounts.begin(), one.amounts.end(), [](auto& a) { return a.interior > 0; });
  if (interior) ++ways[text("interior, ", width)];
  if (engine.tasks() > 1) ++ways[engine.parts() > 1 ? "several tasks, rows in parts" : text("several tasks, ", width)];
  if (engine.streaming() == Engine::Streaming::kAlways) ++ways["streamed by all threads"];
  if (engine.streaming() == Engine::Streaming::kAlone) ++ways["streamed by one thread"];
  if (engine.streaming() != Engine::Streaming::kNever && engine.parts() > 1) ++ways["streamed, rows in parts"];
  ++ways[one.thresholds.avx2 ? "AVX2" : "without AVX2"];
  if (one.source_offset % 8 != 0 && one.output_offset % 8 != 0) ++ways["misaligned"];
}

}  // namespace

const char* current_case() { return described; }

Outcome check_case(Draw& draw, const Options& options, Ways& ways) {
  static Memory memory;
  const Case one = drawn(draw);
  const int64_t elements = std::accumulate(one.shape.begin(), one.shape.end(), int64_t{1}, std::multiplies<>());
  Outcome outcome{"", words(one)};
  outcome.described.copy(described, sizeof(described) - 1);
  described[std::min(outcome.described.size(), sizeof(described) - 1)] = 0;

  Plan plan;
  std::optional<Engine> made;
  try {
    plan = make_plan(one.shape, one.amounts, one.mode, one.rules);
    made.emplace(plan, one.bits, one.thresholds);
  } catch (const PadError&) {
    ++ways["refused by a rule"];
    return outcome;
  }
  const std::vector<int64_t> dims = plan.shape();
  const int64_t outputs = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  if (std::max(elements, outputs) > kMaxBits / one.bits) {
    ++ways["too large, left out"];
    return outcome;
  }

  const auto source_bytes = static_cast<size_t>(bytes_of(elements, one.bits));
  char* source = memory.source.place(source_bytes, one.source_offset, one.flush_right);
  uint64_t noise = draw.below(256) + 1;
  const auto random_byte = [&noise] {
    noise = noise * 6364136223846793005u + 1442695040888963407u;
    return static_cast<char>(noise >> 56);
  };
  std::generate(source, source + source_bytes, random_byte);
  char fill[16];
  std::generate(fill, fill + sizeof(fill), random_byte);
  if (one.bits < 8) fill[0] = static_cast<char>(fill[0] & ((1 << one.bits) - 1));

  const std::vector<char> expected =
      mapped(plan, one.bits, source, fill, static_cast<size_t>(bytes_of(outputs, one.bits)));
  const Engine& engine = *made;
  if ((engine.tasks() == 0) != expected.empty()) {
    outcome.found = text("there are ", engine.tasks(), " tasks for ", expected.size(), " bytes");
    return outcome;
  }
  if (expected.empty()) {
    ++ways["empty"];
    return outcome;
  }
  count_ways(engine, one, ways);
  if (engine.tasks() * expected.size() <= kMaxTraced) {
    outcome.found = run_alone(engine, one, source, fill, expected, memory);
    if (!outcome.found.empty()) return outcome;
  }
  std::vector<size_t> order(engine.tasks());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draw.below(i)]);
  outcome.found = run_together(engine, one, source, fill, expected, order, 1, memory);
  if (outcome.found.empty() && draw.chance(options.threads)) {
    if (engine.tasks() > 1) ++ways["on threads"];
    outcome.found = run_together(engine, one, source, fill, expected, order, 3, memory);
  }
  if (outcome.found.empty() && !memory.source.intact()) outcome.found = "memory around the source has changed";
  return outcome;
}
