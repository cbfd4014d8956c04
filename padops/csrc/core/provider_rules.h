// What ONNX Runtime's execution providers do with Pads, by the tables in padops/rules/ (core/rule_files.h).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan.h"

namespace padops {

// A provider's behaviour for a Pad that it does not run right.
enum class Does {
  kLeaves,  // it does not claim the node, which goes to the next provider
  kRefuses,
  kWrong,
  kDies,
};

inline constexpr std::string_view kDoes[] = {"leaves", "refuses", "wrong", "dies"};

const std::vector<std::string_view>& conditions();  // of rules; padops/rules/conditions.json explains them

struct ProviderRule {
  Does does;
  std::string_view when;                     // one of the conditions
  std::vector<std::string_view> modes = {};  // empty: any
  int limit = 0;
  std::vector<std::string_view> types = {};
  int before = 0;                       // the first onnxruntime 1.x that runs such a Pad right; 0: none does
  std::string_view plugin_before = {};  // the same for the versions of a plugin
};

struct ProviderRow {
  std::string_view name;
  bool fuses;  // whether it claims nodes of other providers, so that padops must replace its nodes
  std::vector<ProviderRule> rules;
};

const std::vector<ProviderRow>& known_providers();

// The parts of a list; an empty list has one empty part.
std::vector<std::string_view> split(std::string_view list, char separator);

// The rules for a version of a plugin; "" for a provider that is built into the runtime.
ProviderRow of_plugin(ProviderRow row, std::string_view version);

// A type that the CPU provider's kernel moves bit by bit.
struct CpuKernel {
  std::string_view type;
  int version;  // the first Pad with the type
};

const std::vector<CpuKernel>& cpu_kernels();  // of ONNX's Pad

// Known facts of a Pad's fill: an input, or the attribute of the first versions. The defaults mean no fill.
struct FillFacts {
  bool is_input = false;
  bool is_computed = false;
  std::optional<std::vector<int64_t>> dims = std::vector<int64_t>();  // -1 for an unknown dim
  bool is_rounded = false;                                            // by a float
  bool is_endless_value = false;
};

// Known facts of a node of ONNX's Pad.
struct PadFacts {
  std::string mode;
  int version = 0;                           // of Pad
  std::string type;                          // of its data
  std::optional<std::vector<int64_t>> dims;  // of its data; -1 for an unknown dim
  bool has_axes = false;
  std::optional<bool> has_all_axes;             // unset if the axes are computed
  std::vector<int64_t> axes;                    // if all axes are listed: their order, counted from the front
  std::optional<std::vector<Amounts>> amounts;  // unset if the amounts are computed
  FillFacts fill;
  const std::set<std::string>* operators = nullptr;  // of the graph
  bool is_in_body = false;
};

// What a provider of onnxruntime 1.`minor` does wrong with a Pad; nothing if it runs the Pad right. If the graph leaves
// open whether a rule applies, the provider claims the node and may be wrong.
std::optional<Does> find_fault(const ProviderRow& provider, const PadFacts& pad, int minor);

// The row of a provider, from `own` or else the known rows; null for an unknown name.
const ProviderRow* find_provider(const std::vector<ProviderRow>& own, std::string_view name);

// What the first of these providers that claims a Pad does wrong; nothing if no provider claims it, or the claimant
// runs it right.
std::optional<Does> fault_among(const std::vector<ProviderRow>& providers, const PadFacts& pad, int minor);

}  // namespace padops
