// Answers questions about plans and positions, one a line: what they are in C++, for tests that compare.
//
//   plan MODE CROP LIMIT CLAMP [SIZE BEGIN END INTERIOR]...   the axes' plans, or the rule that is broken
//   index MODE AXIS POSITION                                  source_index
//   same SIZE KERNEL STRIDE DILATION                          the smaller and the larger amount, or the rule
//
// AXIS is size, start, extent, begin, interior, output. Enumerators are their numbers.

#include <cstdint>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "core/amounts.h"
#include "core/plan.h"
#include "core/runs.h"

namespace {

using padops::Amounts;
using padops::AxisPlan;
using padops::Mode;

int64_t integer(std::istream& in) {
  int64_t value = 0;
  in >> value;
  return value;
}

template <class Enumeration>
Enumeration enumerator(std::istream& in) {
  return static_cast<Enumeration>(integer(in));
}

// In the order in which it is written, whatever the order in which a compiler computes arguments.
AxisPlan axis(std::istream& in) {
  AxisPlan read;
  for (int64_t* field : {&read.size, &read.start, &read.extent, &read.begin, &read.interior, &read.output})
    *field = integer(in);
  return read;
}

void print(const AxisPlan& axis) {
  std::cout << axis.size << ' ' << axis.start << ' ' << axis.extent << ' ' << axis.begin << ' ' << axis.interior << ' '
            << axis.output << ' ';
}

void print_plan(std::istream& in) {
  const auto mode = enumerator<Mode>(in);
  padops::Rules rules;
  rules.crop = enumerator<padops::Crop>(in);
  rules.limit = enumerator<padops::Limit>(in);
  rules.clamp = integer(in) != 0;
  std::vector<int64_t> shape;
  std::vector<Amounts> amounts;
  for (int64_t size = 0; in >> size;) {
    Amounts pads;
    for (int64_t* field : {&pads.begin, &pads.end, &pads.interior}) *field = integer(in);
    shape.push_back(size);
    amounts.push_back(pads);
  }
  for (const AxisPlan& made : padops::make_plan(shape, amounts, mode, rules).axes) print(made);
}

void answer(const std::string& question, std::istream& in) {
  if (question == "plan") return print_plan(in);
  if (question == "same") {
    int64_t values[4];
    for (int64_t& value : values) value = integer(in);
    const Amounts pads = padops::same_padding(values[0], values[1], values[2], values[3], "SAME_UPPER");
    std::cout << pads.begin << ' ' << pads.end;
    return;
  }
  const auto mode = enumerator<Mode>(in);
  const AxisPlan of = axis(in);
  std::cout << padops::source_index(of, mode, integer(in));
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string question;
    in >> question;
    try {
      answer(question, in);
    } catch (const padops::PadError& error) {
      const std::string text = error.what();
      std::cout << text.substr(text.rfind('['));
    }
    std::cout << '\n';
  }
}
