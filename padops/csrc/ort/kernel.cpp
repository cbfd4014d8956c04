#include "ort/kernel.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/float16.h"
#include "core/text.h"
#include "ort/ort_values.h"
#include "ort/status.h"

namespace padops {

namespace {

// The size of an empty string in the runtime, which uses the system's C++ library. This library may use another.
#if defined(__APPLE__)
constexpr size_t kStringBytes = 24;
#else
constexpr size_t kStringBytes = 32;
#endif

// Throws PadError P10 if there is no memory for the output. Never ask the runtime for it: after a failed request, its
// arena takes all free memory for the next request, and keeps it.
void check_memory(const std::vector<int64_t>& dims, int bits) {
  constexpr size_t kSurelyThere = size_t{1} << 30;
  const size_t count = element_count(dims);
  const size_t bytes = bits == 0 ? count * kStringBytes : bits < 8 ? count / (8 / bits) : count * (bits / 8);
  if (bytes <= kSurelyThere) return;
  void* volatile tried = std::malloc(bytes);
  if (tried == nullptr)
    throw PadError("P10", text("no memory for an output of shape ", bracketed(dims), " (", bytes, " bytes)"));
  std::free(tried);
}

// The engine moves strings as pointers to them.
constexpr int kPointerBits = 8 * sizeof(const char*);

// The required form of each attribute kind, and its rule; in the order of AttributeKind.
constexpr struct {
  const char* rule;
  const char* words;
} kAttributes[] = {{"P8", "a list of integers"}, {"P7", "a float"}, {"P9", "a string"}};

}  // namespace

Kernel::Kernel(const ort::Api& api, int minor, const NodeReader& node, const OpRow& op, const TypeRow& type, bool alone)
    : api_(api),
      minor_(minor),
      op_(op),
      type_(type),
      alone_(alone),
      name_(node.name()),
      out_of_memory_(label() + "out of memory [P10]") {
  try {
    read_attributes(node);
    read_inputs(node);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw std::runtime_error(label() + error.what());
  }
}

std::string Kernel::label() const { return text("padops::", op_.name, " '", name_, "': "); }

void Kernel::read_attributes(const NodeReader& node) {
  for (const AttributeRow& row : op_.attributes) {
    if (node.read_attribute(row, constant_)) continue;
    const auto& [rule, words] = kAttributes[static_cast<size_t>(row.kind)];
    if (node.has_attribute(row.name)) throw PadError(rule, text("attribute ", row.name, " is not ", words));
    if (row.required) throw PadError(rule, text("attribute ", row.name, " is required"));
    if (row.kind == AttributeKind::kString) constant_.strings[row.name] = row.text_default;
    if (row.kind == AttributeKind::kFloat) constant_.floats[row.name] = 0;
  }
  mode_ = check_strings(op_, constant_);
}

void Kernel::read_inputs(const NodeReader& node) {
  // P7: the default is 0 in every type, the empty string for strings.
  if (type_.bits > 0) fill_.assign(std::max(type_.bits / 8, 1), '\0');
  if (!op_.input_index(op_.fill)) fill_ = value_attribute();
  places_ = node.places();
  for (size_t i = 1; i < op_.inputs.size(); ++i) {
    const InputRow& row = op_.inputs[i];
    const bool is_fill = row.kind == InputKind::kData && mode_ == Mode::kConstant;
    const bool is_given = i < places_.size();
    if (const ort::Value* value = is_given ? node.constant(i) : nullptr) {
      if (row.kind != InputKind::kData) constant_.integers[row.name] = read_integers(row, value);
      if (is_fill) fill_ = read_fill(value);
    } else if (!row.optional || (is_given && (is_fill || row.kind != InputKind::kData))) {
      varying_.push_back(i);
      if (is_fill) fill_input_ = i;
    }
  }
}

// An input of this run; null for an absent optional input (P8).
const ort::Value* Kernel::input(const ort::KernelContext* context, size_t i) const {
  const ort::Value* value = nullptr;
  if (i < places_.size() && places_[i]) check(api_, api_.KernelContext_GetInput()(context, *places_[i], &value));
  if (value == nullptr && !op_.inputs[i].optional)
    throw PadError("P8", text("input ", op_.inputs[i].name, " is required"));
  return value;
}

Integers Kernel::read_integers(const InputRow& row, const ort::Value* value) const {
  const ValueShape shape(api_, minor_, value);
  const std::string type = type_name(shape.element_type());
  const std::vector<std::string_view>& allowed = integer_types(row.kind);
  if (std::find(allowed.begin(), allowed.end(), type) == allowed.end()) {
    std::string words = joined(allowed);
    for (size_t at = 0; (at = words.find(", ", at)) != std::string::npos;) words.replace(at, 2, " or ");
    throw PadError("P8", text(row.name, " is ", type, ", expected ", words));
  }
  const size_t count = element_count(shape.dims());
  const char* bytes = tensor_bytes(api_, value);
  Integers list{{}, {shape.dims().begin(), shape.dims().end()}};
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

// Copies an integer input, to compare it with the next run's. Its type is already checked.
Seen Kernel::see(const ort::Value* value) const {
  if (value == nullptr) return {};
  const ValueShape shape(api_, minor_, value);
  const size_t size = element_count(shape.dims()) * (type_of_ort(shape.element_type())->bits / 8);
  return {{shape.dims().begin(), shape.dims().end()}, {tensor_bytes(api_, value), size}};
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
  const size_t count = element_count(ValueShape(api_, minor_, value).dims());
  if (count != 1) throw PadError("P7", text(op_.fill, " has ", count, " elements, expected one"));
  if (type_.bits == 0) return read_strings(api_, value, 1).bytes;
  const char* bytes = tensor_bytes(api_, value);
  if (type_.bits >= 8) return Element(bytes, type_.bits / 8);
  return Element(1, static_cast<char>(*bytes & ((1 << type_.bits) - 1)));
}

std::shared_ptr<const Prepared> Kernel::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

// Whether an earlier run's plan fits this run.
bool Kernel::fits(const Prepared& prepared, std::span<const int64_t> shape, const ort::KernelContext* context) const {
  if (!std::ranges::equal(prepared.shape, shape)) return false;
  auto seen = prepared.seen.begin();
  for (const size_t i : varying_) {
    if (op_.inputs[i].kind == InputKind::kData) continue;
    const Seen& before = *seen++;
    const ort::Value* value = input(context, i);
    if (value == nullptr) continue;  // the model fixes absence and types, so they do not change between runs
    if (!std::ranges::equal(before.dims, ValueShape(api_, minor_, value).dims())) return false;
    if (before.bytes != std::string_view(tensor_bytes(api_, value), before.bytes.size())) return false;
  }
  return true;
}

// Makes a plan and keeps it for the next runs. Reads and checks the inputs one by one, in the operator's order.
std::shared_ptr<const Prepared> Kernel::prepare(std::span<const int64_t> shape,
                                                const ort::KernelContext* context) const {
  auto made = std::make_shared<Prepared>();
  made->shape.assign(shape.begin(), shape.end());
  Arguments node = constant_;
  for (const size_t i : varying_) {
    const InputRow& row = op_.inputs[i];
    const ort::Value* value = input(context, i);
    if (row.kind != InputKind::kData) {
      if (value != nullptr) node.integers[row.name] = read_integers(row, value);
      made->seen.push_back(see(value));
    } else if (fill_input_ && value != nullptr) {
      read_fill(value);
    }
  }
  made->plan = make_plan(made->shape, op_.amounts(op_, node, made->shape), mode_, op_.rules);
  made->dims = made->plan.shape();
  // Only for a new plan: the arena may still hold an earlier run's memory, and as much again need not be free.
  check_memory(made->dims, type_.bits);
  made->engine.emplace(made->plan, type_.bits > 0 ? type_.bits : kPointerBits);
  made->sharing.emplace(made->engine->bytes(), Thresholds::of_this_machine());
  const std::lock_guard lock(mutex_);
  latest_ = made;
  return made;
}

void Kernel::compute(ort::KernelContext* context) const {
  const ort::Value* data = input(context, 0);
  const ValueShape shape(api_, minor_, data);
  std::shared_ptr<const Prepared> prepared = latest();
  if (prepared == nullptr || !fits(*prepared, shape.dims(), context)) prepared = prepare(shape.dims(), context);
  const ort::Value* value = fill_input_ ? input(context, *fill_input_) : nullptr;
  const Element read = value == nullptr ? Element() : read_fill(value);
  const Element& fill = value == nullptr ? fill_ : read;
  const std::vector<int64_t>& dims = prepared->dims;
  ort::Value* output = nullptr;
  try {
    check(api_, api_.KernelContext_GetOutput()(context, 0, dims.data(), dims.size(), &output));
  } catch (const std::exception& error) {
    // The caller has bound an output of another shape, or memory has run out.
    throw PadError("P10", text("the runtime gives no output of shape ", bracketed(dims), ": ", error.what()));
  }
  if (type_.bits == 0) {
    move_strings(context, *prepared, data, output, fill);
  } else if (prepared->engine->tasks() > 0) {
    run_engine(context, *prepared, {tensor_bytes(api_, data), tensor_bytes(api_, output), fill.data()});
  }
}

void Kernel::run_engine(const ort::KernelContext* context, const Prepared& prepared, const Places& places) const {
  const Engine& engine = *prepared.engine;
  struct Work {
    const Engine& engine;
    const Places& places;
  } work{engine, places};
  const auto run = [](void* user, size_t task) {
    const auto& [part, at] = *static_cast<const Work*>(user);
    part.run(task, at.source, at.output, at.fill);
  };
  const auto run_all = [&](bool shared) {
    if (shared) return check(api_, api_.KernelContext_ParallelFor()(context, run, engine.tasks(), 0, &work));
    for (size_t task = 0; task < engine.tasks(); ++task) run(&work, task);
  };
  if (engine.tasks() == 1 || alone_) return run_all(false);
  Sharing& sharing = *prepared.sharing;
  const bool shared = sharing.choose();
  if (!sharing.is_trying()) return run_all(shared);
  const auto begin = std::chrono::steady_clock::now();
  run_all(shared);
  sharing.took(shared, std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
}

void Kernel::move_strings(const ort::KernelContext* context, const Prepared& prepared, const ort::Value* data,
                          ort::Value* output, const Element& fill) const {
  if (prepared.engine->tasks() == 0) return;
  Strings strings = read_strings(api_, data, element_count(prepared.shape));
  const auto has_zero = [](const std::string& bytes) { return bytes.find('\0') != std::string::npos; };
  if (has_zero(strings.bytes) || has_zero(fill)) {
    move_one_by_one(prepared.plan, strings, output, fill);
    return;
  }
  // One call passes all strings to the runtime. That is faster than a call for each, but the runtime reads up to the
  // first 0.
  const std::vector<const char*> begins = end_with_zeros(strings);
  std::vector<const char*> chosen(element_count(prepared.dims));
  const char* const filling = fill.c_str();
  run_engine(context, prepared,
             {reinterpret_cast<const char*>(begins.data()), reinterpret_cast<char*>(chosen.data()),
              reinterpret_cast<const char*>(&filling)});
  check(api_, api_.FillStringTensor()(output, chosen.data(), chosen.size()));
}

void Kernel::move_one_by_one(const Plan& plan, const Strings& strings, ort::Value* output, const Element& fill) const {
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
