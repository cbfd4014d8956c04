// What other execution providers of ONNX Runtime do with Pads. padops/runtime/provider_rules.py has the same table,
// with the source of each row; tests/csrc/test_describe.py compares the two through describe().
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

// What such a Pad is.
enum class When {
  kAlways,
  kAxes,            // it has the input axes
  kAxesButAll,      // the same, and they are not all axes
  kAxesTurned,      // the same, and they are all in another order than theirs, in which the amounts are others, too
  kAxesAndFill,     // it has axes and a fill
  kCrop,            // an amount is negative
  kBeyond,          // an amount is more than m - 1 in mode reflect, than m in mode wrap, where a crop leaves m elements
  kBeyondAll,       // the same of an axis as it is without its crop
  kCropBeyond,      // the same of an axis that is cropped
  kSingle,          // an axis grows of which a crop leaves one element
  kCutBeyond,       // a crop takes more of an axis than there is
  kCutAway,         // a crop leaves nothing of an axis, and nodes behind the Pad decide, too: no rule tells which
  kOpenRank,        // the number of dims of its data is not known
  kOpenDims,        // a dim of its data is not known
  kComputed,        // its amounts or axes are computed
  kRankAbove,       // its data have more dims than the row's limit
  kSizesAbove,      // the same, and the sizes of its dims decide, too: no rule tells which
  kAbove,           // it is of a later version of Pad than the row's limit
  kBelow,           // it is of an earlier one
  kOtherTypes,      // its data are of none of the row's types
  kEmpty,           // a dim of its data or of its output is known to be 0
  kRankBelow,       // its data are known to have fewer dims than the row's limit
  kComputedFill,    // its fill is computed
  kComputedScalar,  // the same, and has no dims
  kFillNotOne,      // its fill has not one element
  kBareFillNotOne,  // the same, and it has no axes
  kFillEmpty,       // its fill has no element
  kRoundedFill,     // a float does not keep its fill: a whole number with more than 24 bits, or a negative zero
  kEndlessValue,    // its value is an attribute, and no number, or infinite in its type
  kNodesBehind,     // nodes behind it decide, and no rule tells which
  kAxesBeside,      // it has the input axes, and stands among operators of the row's types: for them the runtime turns
                    // layouts, and it may turn this Pad's, wrongly
  kInBody,          // it stands in a branch or another body of a node
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

// What becomes of a Pad where these providers are asked in their order, other than that it is left: nothing where none
// takes it, or the one that takes it runs it right. Unknown names are skipped.
std::optional<Does> fault_among(const std::vector<std::string>& providers, const PadFacts& pad, int minor);

}  // namespace padops
