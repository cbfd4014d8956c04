// The operators of the domain: one row each, and a function that turns a node into amounts. The same table as OPS in
// padops/dialects.py; tests/test_describe.py compares the two through describe().
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan.h"

namespace padops {

struct TypeRow {
  const char* name;
  int onnx;
  int ort;
  int bits;   // 0: strings
  int pad;    // first version of ONNX Pad that lists it
  int since;  // first onnxruntime 1.x that accepts it in a custom operator
};

const std::vector<TypeRow>& types();

enum class InputKind {
  kData,     // T, the type of the data
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
  const char* text_default = "";         // of a string
  std::vector<std::string> choices = {};  // what a string other than the mode may say
};

// An integer input or attribute: its values, and its shape as the node gave it.
struct Integers {
  std::vector<int64_t> values;
  std::vector<int64_t> shape;
};

// A node as a dialect sees it: attributes and integer inputs by name. Absent ones are not in the maps.
struct Arguments {
  std::map<std::string, Integers, std::less<>> integers;
  std::map<std::string, std::string, std::less<>> strings;
  std::map<std::string, float, std::less<>> floats;

  const Integers* find(std::string_view name) const;
  const Integers& at(std::string_view name) const;  // throws PadError P8 if absent
};

struct OpRow {
  std::string name;
  std::vector<InputRow> inputs;
  std::vector<AttributeRow> attributes;  // in alphabetical order
  const char* mode;                      // the name of the mode attribute
  std::vector<std::string> modes;        // as the specification spells them
  std::vector<const TypeRow*> types;
  const char* fill;  // the input or attribute that holds the fill
  Rules rules;
  std::vector<Amounts> (*amounts)(const OpRow& op, const Arguments& node, const std::vector<int64_t>& shape);

  std::optional<size_t> input_index(std::string_view input) const;
};

const std::vector<OpRow>& ops();

// Throws PadError P9 if this version of the operator does not know the mode, S1 if another string attribute says what it
// may not.
Mode check_strings(const OpRow& op, const Arguments& node);

// What an input of this kind, other than kData, may be, by type name.
const std::vector<std::string_view>& integer_types(InputKind kind);

// The amounts before and after one spatial axis (S1). Throws PadError P10.
Amounts same_padding(int64_t size, int64_t kernel, int64_t stride, int64_t dilation, std::string_view auto_pad);

// The tables as JSON; the text lives as long as the library.
const std::string& describe();

}  // namespace padops
