// What other execution providers of ONNX Runtime do with Pads. padops/runtime/provider_rules.py has the same table,
// with the source of each row; tests/csrc/test_describe.py compares the two through describe().
#pragma once

#include <cstdint>
#include <optional>
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

// What such a Pad is.
enum class When {
  kAlways,
  kAxes,         // it has the input axes
  kCrop,         // an amount is negative
  kBeyond,       // an amount is more than m - 1 in mode reflect, than m in mode wrap, where a crop leaves m elements
  kBeyondAll,    // the same of an axis as it is without its crop
  kCropBeyond,   // the same of an axis that is cropped
  kSingle,       // an axis grows of which a crop leaves one element
  kCutBeyond,    // a crop takes more of an axis than there is
  kRank0,        // its data are known to have no dims
  kEmpty,        // a dim of its data or of its output is known to be 0
  kOtherFill,    // it has a fill that is known not to be one element
  kNoFill,       // it has a fill that is known to be no element at all
  kOpenRank,     // the number of dims of its data is not known
  kOpenDims,     // a dim of its data is not known
  kComputed,     // its amounts or axes are computed
  kRankAbove,    // its data have more dims than the row's limit
  kAbove,        // it is of a later version of Pad than the row's limit
  kBelow,        // it is of an earlier one
  kOtherTypes,   // its data are of none of the row's types
  kNodesBehind,  // nodes behind it decide, and no rule tells which
};

struct ProviderRule {
  Does does;
  When when;
  std::vector<std::string_view> modes = {};  // none: any
  int limit = 0;
  std::vector<std::string_view> types = {};
  int before = 0;  // the first onnxruntime 1.x that runs such a Pad right; 0: none does
};

struct ProviderRow {
  std::string_view name;
  bool fuses;  // whether it asks for nodes that another one has, so that padops must put others in their place
  std::vector<ProviderRule> rules;
};

const std::vector<ProviderRow>& known_providers();

// What a graph tells of a node of ONNX's Pad.
struct PadFacts {
  std::string mode;
  int version = 0;                           // of Pad
  std::string type;                          // of its data
  std::optional<std::vector<int64_t>> dims;  // of its data; -1 for one that is not known
  bool has_axes = false;
  std::optional<size_t> fill;                   // the number of its elements, where there is one and that is known
  std::optional<std::vector<Amounts>> amounts;  // nothing where they are computed
};

// What a provider of onnxruntime 1.`minor` does with a Pad; nothing where it runs it right. Where the graph leaves open
// whether a rule holds, the provider takes the node, and may be wrong.
std::optional<Does> find_fault(const ProviderRow& provider, const PadFacts& pad, int minor);

// Whether one of these providers, asked in their order, would take a Pad and not run it right. Unknown names are
// skipped.
bool goes_wrong(const std::vector<std::string>& providers, const PadFacts& pad, int minor);

}  // namespace padops
