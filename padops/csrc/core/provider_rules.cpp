#include "core/provider_rules.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace padops {

namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

// The sum, or the nearest int64 to it: a model may declare any dims and amounts.
int64_t sum(int64_t a, int64_t b) {
  if (b > 0 && a > kMost - b) return kMost;
  if (b < 0 && a < kLeast - b) return kLeast;
  return a + b;
}

// Whether a condition holds; nothing if the graph leaves it open.
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

// Whether a test passes for the amounts and size of any axis. Axes whose amounts already rule it out are skipped.
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

// The elements that a crop leaves of an axis; may be less than 0.
int64_t left_of(const Amounts& row, int64_t dim) {
  return sum(sum(dim, std::min<int64_t>(row.begin, 0)), std::min<int64_t>(row.end, 0));
}

int64_t longest(const Amounts& row) { return std::max(row.begin, row.end); }

bool grows(const Amounts& row) { return longest(row) > 0; }

bool is_beyond(const PadFacts& pad, const Amounts& row, int64_t size) {
  return pad.mode == "reflect" ? longest(row) >= size : longest(row) > size;
}

Answer goes_beyond(const PadFacts& pad, bool cropped) {
  return any_axis(
      pad, [&](const Amounts& row) { return grows(row) && (!cropped || is_cropped(row)); },
      [&](const Amounts& row, int64_t dim) { return is_beyond(pad, row, left_of(row, dim)); });
}

// The number of elements of a value with these dims, at most the largest int64.
std::optional<int64_t> element_count(const std::optional<std::vector<int64_t>>& dims) {
  if (!dims || std::ranges::any_of(*dims, [](int64_t dim) { return dim < 0; })) return std::nullopt;
  if (std::ranges::find(*dims, 0) != dims->end()) return 0;
  int64_t count = 1;
  for (const int64_t dim : *dims) count = count > kMost / dim ? kMost : count * dim;
  return count;
}

bool is_empty(const PadFacts& pad) {
  if (!pad.dims) return false;
  if (std::ranges::find(*pad.dims, 0) != pad.dims->end()) return true;
  // Add the negative amount first: then a sum of 0 never overflows on the way.
  const auto gives_nothing = [](const Amounts& row, int64_t dim) {
    return sum(sum(dim, std::min(row.begin, row.end)), longest(row)) == 0;
  };
  return any_axis(pad, is_cropped, gives_nothing).value_or(false);
}

Answer extends_nothing(const PadFacts& pad) {
  if (!pad.dims || std::ranges::find(*pad.dims, 0) == pad.dims->end()) return false;
  return any_axis(pad, grows, [](const Amounts&, int64_t dim) { return dim == 0; });
}

Answer has_axes_but_all(const PadFacts& pad) {
  if (!pad.has_axes) return false;
  return pad.has_all_axes ? Answer(!*pad.has_all_axes) : std::nullopt;
}

Answer has_turned_axes(const PadFacts& pad) {
  if (!pad.has_axes) return false;
  if (!pad.has_all_axes) return std::nullopt;
  if (!pad.amounts) return !std::ranges::is_sorted(pad.axes);
  for (size_t i = 0; i < pad.axes.size(); ++i) {
    const Amounts &row = (*pad.amounts)[i], &other = (*pad.amounts)[pad.axes[i]];
    // On the wrong axis, a reflection may be too long, and be refused.
    if (row.begin != other.begin || row.end != other.end) return pad.mode == "reflect" ? Answer() : true;
  }
  return false;
}

Answer has_fill_of_others_than_one(const FillFacts& fill) {
  const std::optional<int64_t> count = element_count(fill.dims);
  return count ? Answer(*count != 1) : std::nullopt;
}

Answer is_computed_scalar(const FillFacts& fill) {
  if (!fill.is_computed) return false;
  return fill.dims ? Answer(fill.dims->empty()) : std::nullopt;
}

bool stands_among(const ProviderRule& rule, const PadFacts& pad) {
  return pad.operators != nullptr && std::ranges::any_of(rule.types, [&](std::string_view name) {
           return pad.operators->contains(std::string(name));
         });
}

bool stands_among_these_alone(const ProviderRule& rule, const PadFacts& pad) {
  const auto is_named = [&](const std::string& name) {
    return std::ranges::find(rule.types, std::string_view(name)) != rule.types.end();
  };
  return pad.operators != nullptr && std::ranges::all_of(*pad.operators, is_named);
}

// Whether a condition of padops/rules/conditions.json holds.
Answer holds(const ProviderRule& rule, const PadFacts& pad) {
  const std::string_view when = rule.when;
  if (when == "always") return true;
  if (when == "axes") return pad.has_axes;
  if (when == "axes and fill") return pad.has_axes && pad.fill.is_input;
  if (when == "axes but all") return has_axes_but_all(pad);
  if (when == "axes turned") return has_turned_axes(pad);
  if (when == "crop") return crops(pad);
  if (when == "beyond") return goes_beyond(pad, false);
  if (when == "crop beyond") return goes_beyond(pad, true);
  if (when == "beyond all")
    return any_axis(pad, grows, [&](const Amounts& row, int64_t dim) { return is_beyond(pad, row, dim); });
  if (when == "single")
    return any_axis(pad, grows, [](const Amounts& row, int64_t dim) { return left_of(row, dim) == 1; });
  if (when == "cut beyond")
    return any_axis(pad, is_cropped, [](const Amounts& row, int64_t dim) { return left_of(row, dim) < 0; });
  if (when == "cut away")
    return any_axis(pad, is_cropped, [](const Amounts& row, int64_t dim) { return left_of(row, dim) <= 0; });
  if (when == "open rank") return !pad.dims;
  if (when == "open dims") return any_dim_is_open(pad);
  if (when == "computed") return !pad.amounts;
  if (when == "rank above") return pad.dims ? Answer(static_cast<int>(pad.dims->size()) > rule.limit) : std::nullopt;
  if (when == "sizes above")
    return pad.dims && static_cast<int>(pad.dims->size()) <= rule.limit ? Answer(false) : Answer();
  if (when == "above") return pad.version > rule.limit;
  if (when == "below") return pad.version < rule.limit;
  if (when == "other types") return std::ranges::find(rule.types, pad.type) == rule.types.end();
  if (when == "empty") return is_empty(pad);
  if (when == "empty axis") return extends_nothing(pad);
  if (when == "rank below") return pad.dims && static_cast<int>(pad.dims->size()) < rule.limit;
  if (when == "computed fill") return pad.fill.is_computed;
  if (when == "computed scalar fill") return is_computed_scalar(pad.fill);
  if (when == "fill not one") return has_fill_of_others_than_one(pad.fill);
  if (when == "bare fill not one") return pad.has_axes ? Answer(false) : has_fill_of_others_than_one(pad.fill);
  if (when == "fill empty") {
    const std::optional<int64_t> count = element_count(pad.fill.dims);
    return count ? Answer(*count == 0) : std::nullopt;
  }
  if (when == "rounded fill") return pad.fill.is_rounded;
  if (when == "endless value") return pad.fill.is_endless_value;
  if (when == "nodes behind") return stands_among_these_alone(rule, pad) ? Answer(false) : std::nullopt;
  if (when == "in a body") return pad.is_in_body;
  if (when == "axes beside") return pad.has_axes && stands_among(rule, pad) ? Answer() : false;
  return std::nullopt;
}

// The numbers of a version, such as 0, 4 and 0 of "0.4.0.dev"; a number with too many digits becomes the greatest.
std::vector<int> numbers_of(std::string_view version) {
  constexpr std::string_view kDigits = "0123456789";
  std::vector<int> numbers;
  for (size_t at = version.find_first_of(kDigits); at < version.size(); at = version.find_first_of(kDigits, at)) {
    int& number = numbers.emplace_back(std::numeric_limits<int>::max());
    const char* const begin = version.data() + at;
    at = std::min(version.find_first_not_of(kDigits, at), version.size());
    std::from_chars(begin, version.data() + at, number);
  }
  return numbers;
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

const ProviderRow* find_provider(const std::vector<ProviderRow>& own, std::string_view name) {
  for (const std::vector<ProviderRow>* rows : {&own, &known_providers()}) {
    const auto row = std::ranges::find(*rows, name, &ProviderRow::name);
    if (row != rows->end()) return &*row;
  }
  return nullptr;
}

std::optional<Does> fault_among(const std::vector<ProviderRow>& providers, const PadFacts& pad, int minor) {
  for (const ProviderRow& row : providers) {
    const std::optional<Does> fault = find_fault(row, pad, minor);
    if (fault != Does::kLeaves) return fault;
  }
  return std::nullopt;
}

std::vector<std::string_view> split(std::string_view list, char separator) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(separator, at), list.size());
    parts.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

ProviderRow of_plugin(ProviderRow row, std::string_view version) {
  const std::vector<int> numbers = numbers_of(version);
  std::erase_if(row.rules, [&](const ProviderRule& rule) {
    const std::vector<int> first = numbers_of(rule.plugin_before);
    return !first.empty() && numbers >= first;
  });
  return row;
}

}  // namespace padops
