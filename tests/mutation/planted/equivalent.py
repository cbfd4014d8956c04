"""Breaks that change no result, each with the reason: a reviewed list, keyed by the text of the line."""

from __future__ import annotations

# For each reason why nothing that anybody could see is different: the file, the line as it is, in one line and without
# indentation, and the line with the break; "" for all breaks of that line.
EQUIVALENT: dict[str, tuple[tuple[str, str, str], ...]] = {
    "a limit of memory, far above what Pads of models have; tests take it from here": (
        ("padops/convert/matchers/maps.py",
         "LONGEST = 1 << 20 # the most elements of an axis for which maps are written out", ""),
    ),
    "what reads a node always sets it": (
        ("padops/csrc/core/provider_rules.h", "int version = 0; // of Pad", "int version = 1; // of Pad"),
    ),
    "a size that decides only what is tried, or how long something waits; no verdict depends on its last byte": (
        ("padops/convert/verify/choice.py", "if is_proved and size > CHEAP and not must_run:",
         "if is_proved and (size >= CHEAP) and not must_run:"),
        ("padops/convert/verify/choice.py", "process.join(1)", "process.join(2)"),
        ("padops/convert/verify/rounding.py", "DRAWS = 2 # runs with changed inputs and weights", ""),
        ("padops/convert/standard/axes.py", "if dims is not None and prod(dims) <= largest:",
         "if dims is not None and (prod(dims) < largest):"),
        ("padops/convert/verify/moves/__init__.py", "MOST = 1 << 24 # the most elements of a value of known dims", ""),
        ("padops/convert/verify/moves/__init__.py", "return {one for one in found if abs(one) < FAR}", ""),
        ("padops/convert/verify/moves/__init__.py", "TOGETHER, EXACT = 128, 1024 # the largest size that all dims have "
         "together; the largest size of two axes", ""),
        ("padops/convert/verify/moves/__init__.py", "return {size for size in found if size > LARGEST}, "
         "{one for one in given[\"period\"] if 0 < one <= TOGETHER}",
         "return {size for size in found if size > LARGEST}, "
         "{one for one in given[\"period\"] if (0 < one < TOGETHER)}"),
        ("padops/convert/verify/moves/__init__.py", "if one.dtype.kind in \"iu\" and one.size <= FEW:",
         "if one.dtype.kind in \"iu\" and (one.size < FEW):"),
    ),
    "both commands have refused data behind a link before": (
        ("padops/convert/verify/choice.py", "for file in document.data_files(follow_links=False):",
         "for file in document.data_files(follow_links=True):"),
    ),
    "the size that a cast to int8 changes first is tried because of either": (
        ("padops/convert/verify/moves/__init__.py", "NARROW = {TensorProto.INT8: {127}, TensorProto.UINT8: {255}, "
         "TensorProto.INT16: {32767}, TensorProto.UINT16: {65535},", ""),
    ),
    "a term has the place of its body, so that it is never looked for among another body's": (
        ("padops/convert/verify/proof.py", "self._bodies.pop()", "pass"),
    ),
    "further causes are listed, which changes no verdict": (("padops/convert/verify/proof.py", "break", "pass"),),
    "a length of any number of bytes keeps the strings apart": (
        ("padops/convert/verify/terms.py",
         "return sha256(b\"\".join(len(text).to_bytes(8, \"little\") + text for text in texts)).digest()",
         "return sha256(b\"\".join(len(text).to_bytes(9, \"little\") + text for text in texts)).digest()"),
    ),
    "the provider claims no Pad whose mode is empty, and any other text is longer": (
        ("padops/csrc/ort/node_reader.cpp", "if (succeeds(api_, api_.ReadOpAttr()(found, ort::kString, nullptr, 0, "
         "&bytes))) bytes = 0; // the call sets the size", "if (succeeds(api_, api_.ReadOpAttr()(found, ort::kString, "
         "nullptr, 1, &bytes))) bytes = 0; // the call sets the size"),
    ),
    "no element is compared with one element, which is no element": (
        ("padops/convert/verify/moves/__init__.py", "return np.zeros(0, np.int64), np.zeros(0, np.int64)", ""),
    ),
    "the caller asks only whether there is a trial": (
        ("padops/convert/verify/compare.py", "return trials", "return None"),
    ),
    "any number beyond 2^53 will do; a constant of 64 elements is neither few nor many": (
        ("padops/convert/inputs/random_inputs.py", "(1 << 62) + 3) # fmt: skip", "(1 << 62) + 4) # fmt: skip"),
        ("padops/convert/inputs/random_inputs.py",
         "FEW_ELEMENTS = 64 # the most elements of a constant whose numbers become marks", ""),
        ("padops/convert/inputs/random_inputs.py", "if not outside and prod(tensor.dims) <= FEW_ELEMENTS:",
         "if not outside and (prod(tensor.dims) < FEW_ELEMENTS):"),
    ),
    "only the number of these zeros counts": (
        ("padops/convert/pads/pad_info.py",
         "flat_pads=not isinstance(pads, ir.Value) or len(types.shape(pads) or [0, 0]) == 1,",
         "flat_pads=not isinstance(pads, ir.Value) or len(types.shape(pads) or [1, 0]) == 1,"),
    ),
    "NumPy computes the size for any negative number": (
        ("padops/convert/matchers/maps.py", "at = indices.reshape(-1).astype(np.int64)",
         "at = indices.reshape(-2).astype(np.int64)"),
        ("padops/convert/verify/compare.py", "first = value.reshape(-1)[0]", "first = value.reshape(-2)[0]"),
    ),
    "a domain without an import has a function, is padops, or is refused": (
        ("padops/convert/verify/build.py", "opset, version, rows = self._opsets.get(domain, 1), 0, {}",
         "opset, version, rows = self._opsets.get(domain, 2), 0, {}"),
    ),
    "0 more is no overflow; 1 more is added to what a crop leaves, which is less than the largest int64": (
        ("padops/csrc/core/provider_rules.cpp", "if (b > 0 && a > kMost - b) return kMost;",
         "if (b >= 0 && a > kMost - b) return kMost;"),
        ("padops/csrc/core/provider_rules.cpp", "if (b > 0 && a > kMost - b) return kMost;",
         "if (b > 1 && a > kMost - b) return kMost;"),
    ),
    "which of two ways is quicker; both write the same bytes, and the check of the engine takes both": (
        ("padops/csrc/copy/byte_writer.h",
         "return row.left.kind == Run::Kind::kRepeat && std::max(row.left.count, row.right.count) * element >= "
         "kMinSet;",
         "return row.left.kind == Run::Kind::kRepeat && std::min(row.left.count, row.right.count) * element >= "
         "kMinSet;"),
    ),
    "the first group is written alone, and the others together: the same bytes, a call later": (
        ("padops/csrc/core/walk.h",
         "if (axis.interior != 0 || offset < 0 || offset >= axis.extent) return 1;",
         "if (axis.interior != 0 || offset < 1 || offset >= axis.extent) return 1;"),
    ),
    "whatever is more than kLargest is refused, and no message has the number": (
        ("padops/csrc/core/plan.cpp",
         "if (interior >= kLargest || size - 1 > kLargest / (interior + 1)) return kLargest + 1;",
         "if (interior >= kLargest || size - 1 > kLargest / (interior + 1)) return kLargest + 2;"),
    ),
    "two periods are listed as one that repeats, which writes the same bytes": (
        ("padops/csrc/core/runs.cpp",
         "const int64_t listed = axis.output <= 2 * period ? axis.output : period;",
         "const int64_t listed = axis.output < 2 * period ? axis.output : period;"),
    ),
    "an estimate of what a copy costs, which decides how it is done and nothing else": (
        ("padops/csrc/core/streaming.cpp",
         "return element > kLineBytes / 2 ? run.count : run.count / (kLineBytes / element) + 1;",
         "return element > kLineBytes / 2 ? run.count : run.count / (kLineBytes / element) - 1;"),
    ),
    "the libraries of gcc and clang stop at the letter behind the number before they reach any end": (
        ("padops/csrc/core/thresholds.cpp",
         "const auto [end, error] = std::from_chars(line, line + length, size);",
         "const auto [end, error] = std::from_chars(line, line - length, size);"),
    ),
    "the runtime refuses the model before it asks a provider": (
        ("padops/csrc/ort/pad_node.cpp",
         'if (type_name(shape.element_type()) != "int64") return false; // the runtime refuses constant axes of '
         'int32',
         'if (type_name(shape.element_type()) != "int64") return true; // the runtime refuses constant axes of '
         'int32'),
    ),
    "from which length on lines are fetched ahead; the same bytes are written": (
        ("padops/csrc/copy/copy.h", "if (bytes >= kMinFetched)", "if (bytes > kMinFetched)"),
    ),
    "which of two ways is quicker to write a pattern; both write the same bytes": (
        ("padops/csrc/copy/copy.h", "if (bytes >= kMinSet && std::memcmp(line, line + 1, kLine - 1) == 0) {", ""),
    ),
    "the last word is written twice, with the same bits": (
        ("padops/csrc/copy/packed_rows.h",
         "for (; done + kWord < splice.bytes; done += kWord) word(out + done, at + done);",
         "for (; done + kWord <= splice.bytes; done += kWord) word(out + done, at + done);"),
    ),
    "which copy suits the processor; all copies write the same bytes": (
        ("padops/csrc/copy/processor.cpp",
         'found.amd = vendor.ebx == 0x68747541 && vendor.edx == 0x69746E65 && vendor.ecx == 0x444D4163; // '
         '"AuthenticAMD"',
         ""),
        ("padops/csrc/copy/processor.cpp", "const unsigned version = ask(1).eax;", ""),
    ),
    "the first bits that are written into a byte make its higher bits 0": (
        ("padops/csrc/copy/sub_byte_writer.h",
         "kept = byte & ((1u << shift) - 1);", "kept = byte & ((1u >> shift) - 1);"),
    ),
    "whether tasks are parts of rows or rows; both write the same bytes": (
        ("padops/csrc/core/engine.cpp",
         "period == 0 || inner_.extent == 1 || period * element_ / 8 >= task_bytes || inner_.output <= period;",
         "period == 0 || inner_.extent == 1 || period * element_ * 8 >= task_bytes || inner_.output <= period;"),
    ),
    "a limit of effort; verification.md promises no number": (
        ("padops/convert/inputs/given.py", "FEW = 16 # the most elements of an optional input that runs set", ""),
    ),
    "a sum with 0 fits": (
        ("padops/csrc/core/provider_rules.cpp",
         "if (b > 0 && a > kMost - b) return kMost;", "if (b >= 0 && a > kMost - b) return kMost;"),
    ),
    "both are an optional without a value": (
        ("padops/csrc/core/provider_rules.cpp",
         "if (!dims || std::ranges::any_of(*dims, [](int64_t dim) { return dim < 0; })) return std::nullopt;",
         "if (!dims || std::ranges::any_of(*dims, [](int64_t dim) { return dim < 0; })) return {};"),
    ),
    "a mark that no element has": (
        ("padops/csrc/core/runs.h", "constexpr int64_t kFill = -1;", "constexpr int64_t kFill = -2;"),
    ),
    "when outputs are written past the caches; the same bytes are written": (
        ("padops/csrc/core/streaming.cpp",
         "if (run.kind == Run::Kind::kPeriodic && traffic.shared_rows) continue;", ""),
        ("padops/csrc/core/thresholds.cpp", "if (file == nullptr) return 0;", "if (file == nullptr) return 1;"),
    ),
    "where there is one group, 0 is added": (
        ("padops/csrc/core/walk.h", "if (groups > 1) position[prefix - 1] += groups - 1;",
         "if (groups >= 1) position[prefix - 1] += groups - 1;"),
    ),
    "a limit that onnx has, too, and files of two gigabytes": (
        ("padops/convert/model/document.py", "LARGEST_PROTO = (1 << 31) - 1 # bytes of one protobuf message", ""),
        ("padops/convert/ir/reader.py",
         "LARGEST_MODEL = (1 << 31) - 1 # the most bytes of a model; onnx checks the model with its weights inside",
         ""),
    ),
    "any opset above this one says that no opset has the type": (
        ("padops/convert/runtimes.py", "return name is not None and KERNELS[domain].get(name, opset + 1) <= opset",
         "return name is not None and KERNELS[domain].get(name, opset + 2) <= opset"),
    ),
    "both are below every opset that is meant": (
        ("padops/convert/matchers/auto_pad.py",
         'return "all" if (window.opset or 0) < NEGATIVE_SINCE else ""',
         'return "all" if (window.opset or 1) < NEGATIVE_SINCE else ""'),
    ),
    "only the first byte is read": (
        ("padops/csrc/ort/kernel.cpp",
         "return Element(1, static_cast<char>(*bytes & ((1 << type_.bits) - 1)));",
         "return Element(2, static_cast<char>(*bytes & ((1 << type_.bits) - 1)));"),
    ),
    "the data do not fit behind one more element": (
        ("padops/convert/matchers/maps.py",
         "starts = np.flatnonzero(found[: added + 1] == 0).tolist()",
         "starts = np.flatnonzero(found[: added + 2] == 0).tolist()"),
    ),
    "the memory is reserved, and nothing reads the size afterwards": (
        ("padops/csrc/ort/ort_values.cpp", "strings.bytes.resize(strings.bytes.size() + count);", ";"),
    ),
    "where exactly a limit of memory or of length lies": (
        ("padops/convert/matchers/maps.py",
         "if numbers is None or (count := self._entry(numbers)) is None or not 0 <= count <= LONGEST:",
         "if numbers is None or (count := self._entry(numbers)) is None or not (0 <= count < LONGEST):"),
        ("padops/convert/standard/graph_builder.py",
         "if isinstance(stop, Number) or isinstance(step, Number) or int(stop) // int(step) > MAX_LISTED:",
         "if isinstance(stop, Number) or isinstance(step, Number) or (int(stop) // int(step) >= MAX_LISTED):"),
        ("padops/convert/model/nesting.py", "if count * values.itemsize > LARGEST:",
         "if (count * values.itemsize >= LARGEST):"),
    ),
}  # fmt: skip


def reason_of(file: str, line: str, became: str) -> str:
    """Why a break changes nothing, or an empty text."""
    keys = {(file, line, became), (file, line, "")}
    return next((reason for reason, rows in EQUIVALENT.items() if keys.intersection(rows)), "")
