#include "core/provider_rules.h"

#include <algorithm>

namespace padops {

namespace {

// Whether a condition holds; nothing where the graph leaves it open.
using Answer = std::optional<bool>;

Answer any_dim_is_open(const PadFacts& pad) {
  if (!pad.dims) return true;
  return std::ranges::any_of(*pad.dims, [](int64_t dim) { return dim < 0; });
}

bool is_cropped(const Amounts& row) { return row.begin < 0 || row.end < 0; }

Answer crops(const PadFacts& pad) {
  if (!pad.amounts) return std::nullopt;
  return std::ranges::any_of(*pad.amounts, is_cropped);
}

// Whether something holds of the amounts of an axis and of how many elements it has. Axes of which it surely does not
// hold, whatever their size is, are not asked for it.
template <class Asked, class Test>
Answer any_axis(const PadFacts& pad, Asked is_asked, Test test) {
  if (!pad.amounts || !pad.dims) return std::nullopt;
  Answer answer = false;
  for (size_t i = 0; i < pad.amounts->size(); ++i) {
    const Amounts& row = (*pad.amounts)[i];
    const int64_t dim = (*pad.dims)[i];
    if (!is_asked(row)) continue;
    if (dim < 0) answer = std::nullopt;
    else if (test(row, dim)) return true;
  }
  return answer;
}

// What a crop leaves of an axis, which may be less than 0.
int64_t left_of(const Amounts& row, int64_t dim) {
  return dim + std::min<int64_t>(row.begin, 0) + std::min<int64_t>(row.end, 0);
}

int64_t longest(const Amounts& row) { return std::max(row.begin, row.end); }

bool grows(const Amounts& row) { return longest(row) > 0; }

bool is_beyond(const PadFacts& pad, const Amounts& row, int64_t size) {
  return longest(row) > (pad.mode == "reflect" ? size - 1 : size);
}

bool is_empty(const PadFacts& pad) {
  if (!pad.dims) return false;
  if (std::ranges::find(*pad.dims, 0) != pad.dims->end()) return true;
  const auto gives_nothing = [](const Amounts& row, int64_t dim) { return dim + row.begin + row.end == 0; };
  return any_axis(pad, is_cropped, gives_nothing).value_or(false);
}

Answer holds(const ProviderRule& rule, const PadFacts& pad) {
  switch (rule.when) {
    case When::kAlways: return true;
    case When::kAxes: return pad.has_axes;
    case When::kCrop: return crops(pad);
    case When::kBeyond:
      return any_axis(pad, grows,
                      [&](const Amounts& row, int64_t dim) { return is_beyond(pad, row, left_of(row, dim)); });
    case When::kBeyondAll:
      return any_axis(pad, grows, [&](const Amounts& row, int64_t dim) { return is_beyond(pad, row, dim); });
    case When::kCropBeyond:
      return any_axis(
          pad, [](const Amounts& row) { return grows(row) && is_cropped(row); },
          [&](const Amounts& row, int64_t dim) { return is_beyond(pad, row, left_of(row, dim)); });
    case When::kSingle:
      return any_axis(pad, grows, [](const Amounts& row, int64_t dim) { return left_of(row, dim) == 1; });
    case When::kCutBeyond:
      return any_axis(pad, is_cropped, [](const Amounts& row, int64_t dim) { return left_of(row, dim) < 0; });
    case When::kRank0: return pad.dims && pad.dims->empty();
    case When::kEmpty: return is_empty(pad);
    case When::kOtherFill: return pad.fill && *pad.fill != 1;
    case When::kNoFill: return pad.fill && *pad.fill == 0;
    case When::kOpenRank: return !pad.dims;
    case When::kOpenDims: return any_dim_is_open(pad);
    case When::kComputed: return !pad.amounts;
    case When::kRankAbove: return pad.dims ? Answer(static_cast<int>(pad.dims->size()) > rule.limit) : std::nullopt;
    case When::kAbove: return pad.version > rule.limit;
    case When::kBelow: return pad.version < rule.limit;
    case When::kOtherTypes: return std::ranges::find(rule.types, pad.type) == rule.types.end();
    case When::kNodesBehind: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Does> find_fault(const ProviderRow& provider, const PadFacts& pad, int minor) {
  for (const ProviderRule& rule : provider.rules) {
    if (rule.before != 0 && minor >= rule.before) continue;
    if (!rule.modes.empty() && std::ranges::find(rule.modes, pad.mode) == rule.modes.end()) continue;
    if (holds(rule, pad).value_or(rule.does != Does::kLeaves)) return rule.does;
  }
  return std::nullopt;
}

bool goes_wrong(const std::vector<std::string>& providers, const PadFacts& pad, int minor) {
  for (const std::string& name : providers) {
    const auto row = std::ranges::find(known_providers(), name, &ProviderRow::name);
    if (row == known_providers().end()) continue;
    const std::optional<Does> fault = find_fault(*row, pad, minor);
    if (!fault) return false;
    if (*fault != Does::kLeaves) return true;
  }
  return false;
}

}  // namespace padops
