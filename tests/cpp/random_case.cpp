#include "random_case.h"

#include <algorithm>

#include "core/text.h"

using namespace padops;

namespace {

constexpr int64_t kNever = int64_t{1} << 40;

int64_t amount(Draw& draw, int64_t size) {
  if (draw.below(250) == 0)
    return draw.pick({-kLargest, int64_t{1} << 40, kLargest, kLargest + 1, INT64_MIN, INT64_MAX});
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
  drawn.copy.avx2 = drawn.copy.avx2 && draw.chance(60);
  drawn.shared = draw.pick({int64_t{0}, int64_t{64}, int64_t{700}, kNever});
  drawn.min_task = draw.pick({1, 7, 32, 64, 100, 256, 1000});
  drawn.max_task = drawn.min_task * draw.between(1, 8);
  drawn.streamed = draw.pick({int64_t{0}, int64_t{0}, int64_t{500}, int64_t{3000}, kNever});
  drawn.streaming_threads = draw.between(1, 3);
  drawn.bytes_per_merge = draw.pick({0, 0, 40, 160});
  return drawn;
}

// A row of which less than a cache line is cut off, so that it begins or ends at the last place where a whole line may
// still be read beyond it. The source stands at the edge of its pages, and the output begins late in a line.
void crop_less_than_a_line(Case& one, Draw& draw) {
  one.bits = draw.pick({8, 16});
  const int64_t bytes = one.bits / 8;
  one.shape = {draw.between(130, 400)};
  one.amounts = {{draw.between(-66, -58) / bytes, draw.between(-66, -58) / bytes, 0}};
  one.flush_right = draw.chance(50);
  one.source_offset = 0;
  one.output_offset = draw.between(58, 63);
  one.thresholds.shared = kNever;
  one.thresholds.streamed = 0;
}

// Rows long enough for every loop that copies: the longest ones fetch their target ahead.
void copy_long_rows(Case& one, Draw& draw) {
  one.bits = draw.pick({8, 16});
  const int64_t size = draw.between(17'000, 23'000) * 8 / one.bits;
  const bool rows = draw.chance(50);
  one.shape = rows ? std::vector<int64_t>{2, size} : std::vector<int64_t>{size};
  const Amounts along = {draw.between(-2, 9), draw.between(-2, 9), 0};
  one.amounts = rows ? std::vector<Amounts>{{}, along} : std::vector<Amounts>{along};
  one.thresholds.shared = kNever;
  one.thresholds.streamed = kNever;
}

}  // namespace

Case random_case(Draw& draw) {
  Case one;
  one.bits = draw.pick({8, 8, 16, 32, 32, 64, 128, 4, 4, 2});
  one.mode = draw.pick(
      {Mode::kConstant, Mode::kConstant, Mode::kEdge, Mode::kEdge, Mode::kReflect, Mode::kSymmetric, Mode::kWrap});
  const bool interior = one.mode == Mode::kConstant && draw.chance(20);
  if (draw.chance(40)) one.rules = {Crop::kFull, draw.chance(50) ? Limit::kOpenVINO : Limit::kNGraph, draw.chance(50)};
  const auto rank = draw.pick({1, 1, 2, 2, 3, 3, 4, 5, 0});
  if (rank == 0 && draw.chance(10)) {  // more axes than the engine has room for
    one.shape.assign(70, 1);
    one.amounts.assign(70, {1, -1, 0});
  }
  const bool trailing = draw.chance(25);  // an axis behind the padded ones makes elements of any width
  const bool usual = draw.chance(30);     // long rows between short borders, of whole bytes
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
  one.thresholds.copy.string_from = draw.pick({INT64_MAX, INT64_MAX, int64_t{65}, int64_t{200}, int64_t{1000}});
  // Last, so that what the fuzzer found decides the same as before; after the end of its bytes each draw is 0.
  if (usual && !trailing && rank > 0 && draw.below(5) == 4) one.amounts.back().end = draw.between(-2, -1);
  if (draw.below(25) == 24) crop_less_than_a_line(one, draw);
  if (draw.below(100) == 99) copy_long_rows(one, draw);
  return one;
}

std::string words(const Case& one) {
  std::string pads;
  for (const Amounts& each : one.amounts) pads += text(" ", each.begin, "/", each.end, "/", each.interior);
  const Thresholds& t = one.thresholds;
  return text(one.bits, " bits, ", mode_name(one.mode), one.rules.crop == Crop::kFull ? " FULL" : " CROP", ", shape ",
              bracketed(one.shape), ", begin/end/interior", pads, ", shared ", t.shared, ", tasks ", t.min_task, "-",
              t.max_task, ", streamed ", t.streamed, " x", t.streaming_threads, ", merges ", t.bytes_per_merge,
              ", avx2 ", static_cast<int>(t.copy.avx2), ", string from ", t.copy.string_from, ", source +",
              one.source_offset, ", output +", one.output_offset,
              one.flush_right ? " from the end" : " from the beginning");
}
