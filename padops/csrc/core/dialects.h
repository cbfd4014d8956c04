// The operators of the domain, one row each. padops/spec/dialects.py has the same table; tests/csrc/test_describe.py
// compares the two through describe().
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan.h"
#include "core/types.h"

namespace padops {

enum class InputKind {
  kData,  // T, the type of the data
  kInt64,
  kIndex,    // int32 or int64
  kInteger,  // any of the eight integer types
};

struct InputRow {
  const char* name;
  InputKind kind;
  bool optional = false;
};

enum class AttributeKind { kInts, kFloat, kString };

struct AttributeRow {
  const char* name;
  AttributeKind kind;
  bool required = false;
  const char* text_default = "";          // of a string
  std::vector<std::string> choices = {};  // allowed values of a string other than the mode
};

// An integer input or attribute: its values, and its shape in the node.
struct Integers {
  std::vector<int64_t> values;
  std::vector<int64_t> shape;
};

// A node as a dialect sees it: attributes and integer inputs by name. The maps omit absent ones.
struct Arguments {
  std::map<std::string, Integers, std::less<>> integers;
  std::map<std::string, std::string, std::less<>> strings;
  std::map<std::string, float, std::less<>> floats;

  const Integers* find(std::string_view name) const;
  const Integers& at(std::string_view name) const;  // throws PadError P8 if absent
};

struct OpRow;

// Turns a node into amounts, given the shape of its data. Throws PadError.
using AmountsFunction = std::vector<Amounts>(const OpRow& op, const Arguments& node, const std::vector<int64_t>& shape);

struct OpRow {
  std::string name;
  std::vector<InputRow> inputs;
  std::vector<AttributeRow> attributes;  // in alphabetical order
  const char* mode;                      // the name of the mode attribute
  std::vector<std::string> modes;        // as the specification spells them
  std::vector<const TypeRow*> types;
  const char* fill;  // the input or attribute that holds the fill
  Rules rules;
  AmountsFunction* amounts;  // in amounts.h

  std::optional<size_t> input_index(std::string_view input) const;
};

const std::vector<OpRow>& ops();

// An operator of another domain, and its row.
struct StandardOp {
  const char* domain;
  int version;
  OpRow op;
};

// Every version of ONNX's Pad, and com.microsoft::Pad, as ONNX Runtime has them: with mode wrap from Pad 2 on.
const std::vector<StandardOp>& standard_ops();

// The mode of a node. Throws PadError P9 if this version of the operator lacks the mode, S1 if another string attribute
// has a wrong value.
Mode check_strings(const OpRow& op, const Arguments& node);

// The type names that an input of this kind, other than kData, may have.
const std::vector<std::string_view>& integer_types(InputKind kind);

// The tables of operators and types as JSON. The text lives as long as the library.
const std::string& describe();

}  // namespace padops
