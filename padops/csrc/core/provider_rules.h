// What execution providers of ONNX Runtime do with Pads. The tables come from padops/rules/: core/rule_files.h.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan.h"

namespace padops {

// What a provider does with a Pad that it does not run right.
enum class Does {
  kLeaves,  // it does not take the node: the next provider is asked
  kRefuses,
  kWrong,
  kDies,
};

inline constexpr std::string_view kDoes[] = {"leaves", "refuses", "wrong", "dies"};

const std::vector<std::string_view>& conditions();  // of rules: padops/rules/conditions.json says what they mean

struct ProviderRule {
  Does does;
  std::string_view when;                     // one of the conditions
  std::vector<std::string_view> modes = {};  // none: any
  int limit = 0;
  std::vector<std::string_view> types = {};
  int before = 0;                       // the first onnxruntime 1.x that runs such a Pad right; 0: none does
  std::string_view plugin_before = {};  // the same of the versions of a plugin
};

struct ProviderRow {
  std::string_view name;
  bool fuses;  // whether it asks for nodes that another one has, so that padops must put others in their place
  std::vector<ProviderRule> rules;
};

const std::vector<ProviderRow>& known_providers();

// The parts of a list; an empty list has one, which is empty.
std::vector<std::string_view> split(std::string_view list, char separator);

// The rules that hold for a version of a plugin; "" for a provider that is built into the runtime.
ProviderRow of_plugin(ProviderRow row, std::string_view version);

// A type that a kernel of the CPU's provider moves with every bit.
struct CpuKernel {
  std::string_view type;
  int version;  // the first Pad that has it
};

const std::vector<CpuKernel>& cpu_kernels();  // of ONNX's Pad

// What a graph tells of the fill of a Pad, which is an input, or the attribute value of the first versions. As it
// stands here, there is none.
struct FillFacts {
  bool is_input = false;
  bool is_computed = false;
  std::optional<std::vector<int64_t>> dims = std::vector<int64_t>();  // -1 for one that is not known
  bool is_rounded = false;                                            // by a float
  bool is_endless_value = false;
};

// What a graph tells of a node of ONNX's Pad.
struct PadFacts {
  std::string mode;
  int version = 0;                           // of Pad
  std::string type;                          // of its data
  std::optional<std::vector<int64_t>> dims;  // of its data; -1 for one that is not known
  bool has_axes = false;
  std::optional<bool> has_all_axes;             // nothing where they are computed
  std::vector<int64_t> axes;                    // where they are all: as they are named, counted from the front
  std::optional<std::vector<Amounts>> amounts;  // nothing where they are computed
  FillFacts fill;
  const std::set<std::string>* operators = nullptr;  // of the graph
  bool is_in_body = false;
};

// What a provider of onnxruntime 1.`minor` does with a Pad; nothing where it runs it right. Where the graph leaves open
// whether a rule holds, the provider takes the node, and may be wrong.
std::optional<Does> find_fault(const ProviderRow& provider, const PadFacts& pad, int minor);

// The row of a provider: of these, else of the known ones; null for an unknown name.
const ProviderRow* find_provider(const std::vector<ProviderRow>& own, std::string_view name);

// What becomes of a Pad where these providers are asked in their order, other than that it is left: nothing where none
// takes it, or the one that takes it runs it right.
std::optional<Does> fault_among(const std::vector<ProviderRow>& providers, const PadFacts& pad, int minor);

}  // namespace padops
