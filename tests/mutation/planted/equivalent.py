"""Breaks that change no result, each with the reason: a reviewed list, keyed by the text of the line."""

from __future__ import annotations

import re

# For each reason why nothing that anybody could see is different: files below padops/, each with the line, in one line
# and without indentation. «What stands there → what the break makes of it»; a line without that stands for all breaks.
_TABLE: dict[str, tuple[tuple[str, str], ...]] = {
    "a limit of memory, far above what Pads of models have; tests take it from here": (
        ("convert/matchers/maps.py",
         "LONGEST = 1 << 20 # the most elements of an axis for which maps are written out"),),
    "a node's term sets it; terms of each other kind have this number alike": (
        ("convert/verify/terms.py", "output: int = «0 → 1» # the index of a node's output or of a formal; for a body, "
         "the number of formals"),),
    "what reads a node always sets it": (("csrc/core/provider_rules.h", "int version = «0 → 1»; // of Pad"),),
    "a size that decides only what is tried, or how long something waits; no verdict depends on its last byte": (
        ("convert/verify/choice.py", "if is_proved and «size > CHEAP → (size >= CHEAP)» and not must_run:"),
        ("convert/verify/choice.py", "process.join(«1 → 2»)"),
        ("convert/verify/rounding.py", "DRAWS = 2 # runs with changed inputs and weights"),
        ("convert/standard/axes.py", "if dims is not None and «prod(dims) <= largest → (prod(dims) < largest)»:"),
        ("convert/verify/moves/__init__.py", "FEW = 64 # the most elements of a value whose numbers count"),
        ("convert/verify/moves/__init__.py", "MOST = 1 << 24 # the most elements of a value of known dims"),
        ("convert/verify/moves/__init__.py", "return {one for one in found if abs(one) < FAR}"),
        ("convert/verify/moves/__init__.py",
         "TOGETHER, EXACT = 128, 1024 # the largest size that all dims have together; the largest size of two axes"),
        ("convert/verify/moves/__init__.py", "return {size for size in found if size > LARGEST}, {one for one in "
         'given["period"] if «0 < one <= TOGETHER → (0 < one < TOGETHER)»}'),
        ("convert/verify/moves/__init__.py", 'if one.dtype.kind in "iu" and «one.size <= FEW → (one.size < FEW)»:')),
    "both commands have refused data behind a link before": (
        ("convert/verify/choice.py", "for file in document.data_files(follow_links=«False → True»):"),),
    "the size that a cast to int8 changes first is tried because of either": (
        ("convert/verify/moves/__init__.py", "NARROW = {TensorProto.INT8: {127}, TensorProto.UINT8: {255}, "
         "TensorProto.INT16: {32767}, TensorProto.UINT16: {65535},"),),
    "a term has the place of its body, so that it is never looked for among another body's": (
        ("convert/verify/proof.py", "«self._bodies.pop() → pass»"),),
    "further causes are listed, which changes no verdict": (("convert/verify/proof.py", "«break → pass»"),),
    "a length of any number of bytes keeps the strings apart": (
        ("convert/verify/terms.py",
         'return sha256(b"".join(len(text).to_bytes(«8 → 9», "little") + text for text in texts)).digest()'),),
    "the provider claims no Pad whose mode is empty, and any other text is longer": (
        ("csrc/ort/node_reader.cpp", "if (succeeds(api_, api_.ReadOpAttr()(found, ort::kString, nullptr, «0 → 1», "
         "&bytes))) bytes = 0; // the call sets the size"),),
    "no element is compared with one element, which is no element": (
        ("convert/verify/moves/__init__.py", "return np.zeros(0, np.int64), np.zeros(0, np.int64)"),),
    "the caller asks only whether there is a trial": (("convert/verify/compare.py", "return «trials → None»"),),
    "any number beyond 2^53 will do; a constant of 64 elements is neither few nor many": (
        ("convert/inputs/random_inputs.py", "(1 << 62) + «3 → 4») # fmt: skip"),
        ("convert/inputs/random_inputs.py",
         "FEW_ELEMENTS = 64 # the most elements of a constant whose numbers become marks"),
        ("convert/inputs/random_inputs.py",
         "if not outside and «prod(tensor.dims) <= FEW_ELEMENTS → (prod(tensor.dims) < FEW_ELEMENTS)»:")),
    "only the number of these zeros counts": (
        ("convert/pads/pad_info.py",
         "flat_pads=not isinstance(pads, ir.Value) or len(types.shape(pads) or [«0 → 1», 0]) == 1,"),),
    "NumPy computes the size for any negative number": (
        ("convert/matchers/maps.py", "at = indices.reshape(-«1 → 2»).astype(np.int64)"),
        ("convert/verify/compare.py", "first = value.reshape(-«1 → 2»)[0]")),
    "a domain without an import has a function, is padops, or is refused": (
        ("convert/verify/build.py", "opset, version, rows = self._opsets.get(domain, «1 → 2»), 0, {}"),),
    "0 more is no overflow; 1 more is added to what a crop leaves, which is less than the largest int64": (
        ("csrc/core/provider_rules.cpp", "if (b «> → >=» 0 && a > kMost - b) return kMost;"),
        ("csrc/core/provider_rules.cpp", "if (b > «0 → 1» && a > kMost - b) return kMost;")),
    "which of two ways is quicker; both write the same bytes, and the check of the engine takes both": (
        ("csrc/copy/byte_writer.h", "return row.left.kind == Run::Kind::kRepeat && std::«max → min»(row.left.count, "
         "row.right.count) * element >= kMinSet;"),),
    "the first group is written alone, and the others together: the same bytes, a call later": (
        ("csrc/core/walk.h", "if (axis.interior != 0 || offset < «0 → 1» || offset >= axis.extent) return 1;"),),
    "whatever is more than kLargest is refused, and no message has the number": (
        ("csrc/core/plan.cpp",
         "if (interior >= kLargest || size - 1 > kLargest / (interior + 1)) return kLargest + «1 → 2»;"),),
    "two periods are listed as one that repeats, which writes the same bytes": (
        ("csrc/core/runs.cpp", "const int64_t listed = axis.output «<= → <» 2 * period ? axis.output : period;"),),
    "an estimate of what a copy costs, which decides how it is done and nothing else": (
        ("csrc/core/streaming.cpp",
         "return element > kLineBytes / 2 ? run.count : run.count / (kLineBytes / element) «+ → -» 1;"),),
    "the libraries of gcc and clang stop at the letter behind the number before they reach any end": (
        ("csrc/core/thresholds.cpp", "const auto [end, error] = std::from_chars(line, line «+ → -» length, size);"),),
    "the runtime refuses the model before it asks a provider": (
        ("csrc/ort/pad_node.cpp", 'if (type_name(shape.element_type()) != "int64") return «false → true»; // the '
         "runtime refuses constant axes of int32"),),
    "from which length on lines are fetched ahead; the same bytes are written": (
        ("csrc/copy/copy.h", "if (bytes «>= → >» kMinFetched)"),),
    "which of two ways is quicker to write a pattern; both write the same bytes": (
        ("csrc/copy/copy.h", "if (bytes >= kMinSet && std::memcmp(line, line + 1, kLine - 1) == 0) {"),),
    "the last word is written twice, with the same bits": (
        ("csrc/copy/packed_rows.h",
         "for (; done + kWord «< → <=» splice.bytes; done += kWord) word(out + done, at + done);"),),
    "which copy suits the processor; all copies write the same bytes": (
        ("csrc/copy/processor.cpp", "found.amd = vendor.ebx == 0x68747541 && vendor.edx == 0x69746E65 && vendor.ecx == "
         '0x444D4163; // "AuthenticAMD"'),
        ("csrc/copy/processor.cpp", "const unsigned version = ask(1).eax;")),
    "the first bits that are written into a byte make its higher bits 0": (
        ("csrc/copy/sub_byte_writer.h", "kept = byte & ((1u «<< → >>» shift) - 1);"),),
    "whether tasks are parts of rows or rows; both write the same bytes": (
        ("csrc/core/engine.cpp", "period == 0 || inner_.extent == 1 || period * element_ «/ → *» 8 >= task_bytes || "
         "inner_.output <= period;"),),
    "a limit of effort; verification.md promises no number": (
        ("convert/inputs/given.py", "FEW = 16 # the most elements of an optional input that runs set"),),
    "both are an optional without a value": (
        ("csrc/core/provider_rules.cpp",
         "if (!dims || std::ranges::any_of(*dims, [](int64_t dim) { return dim < 0; })) return «std::nullopt → {}»;"),),
    "a mark that no element has": (("csrc/core/runs.h", "constexpr int64_t kFill = -«1 → 2»;"),),
    "when outputs are written past the caches; the same bytes are written": (
        ("csrc/core/streaming.cpp", "if (run.kind == Run::Kind::kPeriodic && traffic.shared_rows) continue;"),
        ("csrc/core/thresholds.cpp", "if (file == nullptr) return «0 → 1»;")),
    "where there is one group, 0 is added": (
        ("csrc/core/walk.h", "if (groups «> → >=» 1) position[prefix - 1] += groups - 1;"),),
    "a limit that onnx has, too, and files of two gigabytes": (
        ("convert/model/document.py", "LARGEST_PROTO = (1 << 31) - 1 # bytes of one protobuf message"),
        ("convert/ir/reader.py",
         "LARGEST_MODEL = (1 << 31) - 1 # the most bytes of a model; onnx checks the model with its weights inside")),
    "any opset above this one says that no opset has the type": (
        ("convert/runtimes.py", "return name is not None and KERNELS[domain].get(name, opset + «1 → 2») <= opset"),),
    "both are below every opset that is meant": (
        ("convert/matchers/auto_pad.py", 'return "all" if (window.opset or «0 → 1») < NEGATIVE_SINCE else ""'),),
    "only the first byte is read": (
        ("csrc/ort/kernel.cpp", "return Element(«1 → 2», static_cast<char>(*bytes & ((1 << type_.bits) - 1)));"),),
    "the data do not fit behind one more element": (
        ("convert/matchers/maps.py", "starts = np.flatnonzero(found[: added + «1 → 2»] == 0).tolist()"),),
    "the memory is reserved, and nothing reads the size afterwards": (
        ("csrc/ort/ort_values.cpp", "«strings.bytes.resize(strings.bytes.size() + count) → »;"),),
    "where exactly a limit of memory or of length lies": (
        ("convert/matchers/maps.py", "if numbers is None or (count := self._entry(numbers)) is None or not «0 <= count "
         "<= LONGEST → (0 <= count < LONGEST)»:"),
        ("convert/standard/graph_builder.py", "if isinstance(stop, Number) or isinstance(step, Number) or «int(stop) "
         "// int(step) > MAX_LISTED → (int(stop) // int(step) >= MAX_LISTED)»:"),
        ("convert/model/nesting.py", "if «count * values.itemsize > LARGEST → (count * values.itemsize >= LARGEST)»:")),
}  # fmt: skip


def _sides(text: str) -> tuple[str, str]:
    """The line as it is, and with the break; "" for all breaks."""
    line, became = (re.sub("«(.*?) → (.*?)»", rf"\{side}", text) for side in (1, 2))
    return line, "" if became == line else became


EQUIVALENT = {reason: [(f"padops/{file}", *_sides(text)) for file, text in rows] for reason, rows in _TABLE.items()}


def reason_of(file: str, line: str, became: str) -> str:
    """Why a break changes nothing, or an empty text."""
    keys = {(file, line, became), (file, line, "")}
    return next((reason for reason, rows in EQUIVALENT.items() if keys.intersection(rows)), "")
