#include "kernel.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "float16.h"
#include "ort_values.h"
#include "text.h"

namespace padops {

namespace {

// P10. An output that cannot be had must not even be asked for: after a request beyond the memory the runtime's arena
// takes all that there is for its next one, and keeps it.
void check_memory(const std::vector<int64_t>& dims, int bits) {
  constexpr size_t kSurelyThere = size_t{1} << 30;
  const size_t count = element_count(dims);
  const size_t bytes = bits == 0 ? count * sizeof(std::string) : bits < 8 ? count / (8 / bits) : count * (bits / 8);
  if (bytes <= kSurelyThere) return;
  void* volatile tried = std::malloc(bytes);
  if (tried == nullptr)
    throw PadError("P10", text("no memory for an output of shape ", bracketed(dims), " (", bytes, " bytes)"));
  std::free(tried);
}

const char* attribute_rule(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kInts: return "P8";
    case AttributeKind::kFloat: return "P7";
    case AttributeKind::kString: return "P9";
  }
  return "";
}

const char* attribute_words(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kInts: return "a list of integers";
    case AttributeKind::kFloat: return "a float";
    case AttributeKind::kString: return "a string";
  }
  return "";
}

}  // namespace

Kernel::Kernel(const ort::Api& api, const ort::KernelInfo* info, const OpRow& op, const TypeRow& type)
    : api_(api), op_(op), type_(type), name_(node_name(api, info)) {
  try {
    read_attributes(info);
    read_constants(info);
  } catch (const std::exception& error) {
    throw std::runtime_error(explain(error.what()));
  }
}

std::string Kernel::explain(const std::string& what) const {
  return text("padops::", op_.name, " '", name_, "': ", what);
}

void Kernel::read_attributes(const ort::KernelInfo* info) {
  for (const AttributeRow& row : op_.attributes) {
    if (read_attribute(api_, info, row, constant_)) continue;
    const char* rule = attribute_rule(row.kind);
    if (has_attribute(api_, info, row.name))
      throw PadError(rule, text("attribute ", row.name, " is not ", attribute_words(row.kind)));
    if (row.required) throw PadError(rule, text("attribute ", row.name, " is required"));
    if (row.kind == AttributeKind::kString) constant_.strings[row.name] = row.text_default;
    if (row.kind == AttributeKind::kFloat) constant_.floats[row.name] = 0;
  }
  mode_ = check_strings(op_, constant_);
}

void Kernel::read_constants(const ort::KernelInfo* info) {
  if (!op_.input_index(op_.fill)) constant_fill_ = value_attribute();
  size_t given = 0;
  check(api_, api_.KernelInfo_GetInputCount()(info, &given));
  for (size_t i = 1; i < std::min(given, op_.inputs.size()); ++i) {
    int is_constant = 0;
    const ort::Value* value = nullptr;
    check(api_, api_.KernelInfoGetConstantInput_tensor()(info, i, &is_constant, &value));
    if (is_constant == 0 || value == nullptr) continue;
    const InputRow& row = op_.inputs[i];
    if (row.kind != InputKind::kData) {
      constant_.integers[row.name] = read_integers(row, value);
    } else if (mode_ == Mode::kConstant) {
      constant_fill_ = read_fill(value);
    }
  }
}

Integers Kernel::read_integers(const InputRow& row, const ort::Value* value) const {
  const TensorShape shape = value_shape(api_, value);
  const std::string type = type_name(shape.element_type);
  const std::vector<std::string_view>& allowed = integer_types(row.kind);
  if (std::find(allowed.begin(), allowed.end(), type) == allowed.end()) {
    std::string words = joined(allowed);
    for (size_t at = 0; (at = words.find(", ", at)) != std::string::npos;) words.replace(at, 2, " or ");
    throw PadError("P8", text(row.name, " is ", type, ", expected ", words));
  }
  const size_t count = element_count(shape.dims);
  const char* bytes = tensor_bytes(api_, value);
  Integers list{{}, shape.dims};
  const auto take = [&](auto zero) {
    const auto* values = reinterpret_cast<const decltype(zero)*>(bytes);
    for (size_t i = 0; i < count; ++i)
      list.values.push_back(std::in_range<int64_t>(values[i]) ? static_cast<int64_t>(values[i]) : INT64_MAX);
  };
  if (type == "uint8") take(uint8_t{});
  if (type == "int8") take(int8_t{});
  if (type == "uint16") take(uint16_t{});
  if (type == "int16") take(int16_t{});
  if (type == "uint32") take(uint32_t{});
  if (type == "int32") take(int32_t{});
  if (type == "uint64") take(uint64_t{});
  if (type == "int64") take(int64_t{});
  return list;
}

Element Kernel::value_attribute() const {
  const float value = constant_.floats.at(op_.fill);
  Element fill;
  const auto hold = [&](auto bits) { fill.assign(reinterpret_cast<const char*>(&bits), sizeof(bits)); };
  switch (type_.bits) {
    case 16: hold(float16_bits(value)); break;
    case 32: hold(value); break;
    default: hold(static_cast<double>(value)); break;
  }
  return fill;
}

Element Kernel::read_fill(const ort::Value* value) const {
  const size_t count = element_count(value_shape(api_, value).dims);
  if (count != 1) throw PadError("P7", text(op_.fill, " has ", count, " elements, expected one"));
  if (type_.bits == 0) return read_strings(api_, value, 1).bytes;
  const char* bytes = tensor_bytes(api_, value);
  if (type_.bits >= 8) return Element(bytes, type_.bits / 8);
  return Element(1, static_cast<char>(*bytes & ((1 << type_.bits) - 1)));
}

// The plan for these amounts and the shape that `key` begins as: the latest one if it fits, else a new one.
std::shared_ptr<const Prepared> Kernel::prepare(std::vector<int64_t> key,
                                                std::vector<std::pair<const InputRow*, Integers>> integers) const {
  const size_t rank = key.size();
  // The key says where each list in it ends and which input it is: no two runs that differ have the same.
  for (const auto& [row, list] : integers) {
    key.push_back(row - op_.inputs.data());
    key.push_back(static_cast<int64_t>(list.shape.size()));
    key.insert(key.end(), list.shape.begin(), list.shape.end());
    key.insert(key.end(), list.values.begin(), list.values.end());
  }
  key.push_back(static_cast<int64_t>(rank));
  {
    const std::lock_guard lock(mutex_);
    if (latest_ && latest_->key == key) return latest_;
  }
  const std::vector<int64_t> shape(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(rank));
  Arguments node = constant_;
  for (auto& [row, list] : integers) node.integers[row->name] = std::move(list);
  auto made = std::make_shared<Prepared>();
  made->key = std::move(key);
  made->plan = make_plan(shape, op_.amounts(op_, node, shape), mode_, op_.rules);
  made->dims = made->plan.shape();
  check_memory(made->dims, type_.bits);
  if (type_.bits > 0) made->engine.emplace(made->plan, type_.bits);
  const std::lock_guard lock(mutex_);
  latest_ = made;
  return made;
}

void Kernel::compute(ort::KernelContext* context) const {
  size_t given = 0;
  check(api_, api_.KernelContext_GetInputCount()(context, &given));
  const auto input = [&](size_t i) {
    const ort::Value* value = nullptr;
    if (i < given) check(api_, api_.KernelContext_GetInput()(context, i, &value));
    const InputRow& row = op_.inputs[i];
    if (value == nullptr && !row.optional) throw PadError("P8", text("input ", row.name, " is required"));
    return value;
  };
  const ort::Value* data = input(0);
  std::vector<std::pair<const InputRow*, Integers>> integers;
  std::optional<Element> fill = constant_fill_;
  for (size_t i = 1; i < op_.inputs.size(); ++i) {
    const InputRow& row = op_.inputs[i];
    if (row.kind != InputKind::kData && constant_.find(row.name) != nullptr) continue;
    const ort::Value* value = input(i);
    if (value == nullptr) continue;
    if (row.kind != InputKind::kData) {
      integers.emplace_back(&row, read_integers(row, value));
    } else if (mode_ == Mode::kConstant && !fill) {
      fill = read_fill(value);
    }
  }
  const auto prepared = prepare(value_shape(api_, data).dims, std::move(integers));
  const std::vector<int64_t>& dims = prepared->dims;
  ort::Value* output = nullptr;
  try {
    check(api_, api_.KernelContext_GetOutput()(context, 0, dims.data(), dims.size(), &output));
  } catch (const std::exception& error) {
    // A caller's own output of another shape, or no memory after all.
    throw PadError("P10", text("the runtime gives no output of shape ", bracketed(dims), ": ", error.what()));
  }
  // P7: the default is 0 in every type, the empty string for strings.
  if (!fill) fill = type_.bits == 0 ? Element() : Element(std::max(type_.bits / 8, 1), '\0');
  if (prepared->engine) {
    run_engine(context, *prepared->engine, data, output, *fill);
  } else {
    move_strings(prepared->plan, data, output, *fill);
  }
}

void Kernel::run_engine(const ort::KernelContext* context, const Engine& engine, const ort::Value* data,
                        ort::Value* output, const Element& fill) const {
  if (engine.tasks() == 0) return;
  struct Work {
    const Engine& engine;
    const char* source;
    char* output;
    const char* fill;
  } work{engine, tensor_bytes(api_, data), tensor_bytes(api_, output), fill.data()};
  const auto run = [](void* user, size_t task) {
    const auto& part = *static_cast<const Work*>(user);
    part.engine.run(task, part.source, part.output, part.fill);
  };
  if (engine.tasks() == 1) {
    run(&work, 0);
  } else {
    check(api_, api_.KernelContext_ParallelFor()(context, run, engine.tasks(), 0, &work));
  }
}

void Kernel::move_strings(const Plan& plan, const ort::Value* data, ort::Value* output, const Element& fill) const {
  size_t count = 1;
  for (const AxisPlan& axis : plan.axes) count *= axis.size;
  const Strings strings = read_strings(api_, data, count);
  size_t target = 0;
  for_each_source(plan, [&](int64_t index) {
    const char* bytes = index == kFill ? fill.data() : strings.bytes.data() + strings.offsets[index];
    const size_t size = index == kFill ? fill.size() : strings.offsets[index + 1] - strings.offsets[index];
    char* buffer = nullptr;
    check(api_, api_.GetResizedStringTensorElementBuffer()(output, target++, size, &buffer));
    if (size > 0) std::memcpy(buffer, bytes, size);
  });
}

}  // namespace padops
