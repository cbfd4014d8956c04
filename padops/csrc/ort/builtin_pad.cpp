#include "ort/builtin_pad.h"

#include <algorithm>
#include <string_view>

#include "ort/ort_values.h"
#include "ort/pad_node.h"

namespace padops {

namespace {

// The casts of float16 begin with Pad 11: before it, the runtime rounds an attribute's value at another time, and
// cannot load models of the first opsets.
bool has_kernel(std::string_view type, const StandardOp& row, bool casts) {
  if (casts && type == "float16" && row.version >= 11) type = "float";
  if (*row.domain != '\0') return type == "float";
  return std::ranges::any_of(
      cpu_kernels(), [&](const CpuKernel& kernel) { return kernel.type == type && kernel.version <= row.version; });
}

// One axis in a mode other than constant. The runtime refuses more than one period of a known size, and axes that are
// empty or cropped to nothing. Some releases read outside the data if the amounts have both signs.
bool axis_is_right(const std::string& mode, int64_t size, const Amounts& amounts) {
  if (amounts.begin == 0 && amounts.end == 0) return size != 0;
  if (amounts.begin < 0 || amounts.end < 0 || size <= 0) return false;
  return mode == "edge" || std::max(amounts.begin, amounts.end) <= (mode == "reflect" ? size - 1 : size);
}

}  // namespace

bool builtin_is_right(const ort::Api& api, int minor, const ort::Node* node, const StandardOp& row, bool casts) {
  const std::vector<const ort::ValueInfo*> inputs = node_inputs(api, node);
  if (inputs.empty() || inputs[0] == nullptr) return false;
  const TensorShape data = value_shape(api, inputs[0]);
  if (!has_kernel(type_name(data.element_type), row, casts) || data.dims.empty()) return false;
  const std::string mode = mode_of(api, node);
  if (mode == "constant") return true;
  Arguments arguments;
  if (std::ranges::find(row.op.modes, mode) == row.op.modes.end()) return false;
  if (!read_amounts(api, minor, node, row.op, arguments)) return false;
  try {
    const std::vector<Amounts> amounts = row.op.amounts(row.op, arguments, data.dims);
    for (size_t i = 0; i < amounts.size(); ++i)
      if (!axis_is_right(mode, data.dims[i], amounts[i])) return false;
    return true;
  } catch (const PadError&) {
    return false;  // our kernel reports the error
  }
}

}  // namespace padops
