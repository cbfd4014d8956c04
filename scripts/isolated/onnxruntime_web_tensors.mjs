// What the peers of onnxruntime-web share, in Node.js and in a browser: a case of docs/conformance.md is run, and answered.

// Element types by ONNX's names: the runtime's name, and what holds the elements.
const TYPES = {
  float: ["float32", Float32Array],
  double: ["float64", Float64Array],
  float16: ["float16", globalThis.Float16Array ?? Uint16Array],
  int8: ["int8", Int8Array],
  int16: ["int16", Int16Array],
  int32: ["int32", Int32Array],
  int64: ["int64", BigInt64Array],
  uint8: ["uint8", Uint8Array],
  uint16: ["uint16", Uint16Array],
  uint32: ["uint32", Uint32Array],
  uint64: ["uint64", BigUint64Array],
  bool: ["bool", Uint8Array],
  string: ["string", Array],
};

// How it says that it has no kernel for a type, or does not know an opset or a type at all.
const UNSUPPORTED = [
  "Could not find an implementation for",
  "Provider type for", // the build with WebGPU says this
  "fallback to CPU EP has been explicitly disabled", // WebGPU leaves the node to WebAssembly
  "is under development and support for this is limited",
  "Opset",
  "in type constraint",
  "Unsupported model IR version",
  "not supported",
  "unsupported data type",
];

// How it says that a model or its inputs are wrong; any other error is a fault.
const REFUSED = /ERROR_CODE: \d+, ERROR_MESSAGE: /;

class Unsupported extends Error {}

function typeOf(dtype) {
  if (!(dtype in TYPES)) throw new Unsupported(`onnxruntime-web has no tensor of ${dtype}`);
  return TYPES[dtype];
}

const bytesOf = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0)); // a buffer of their own

function textOf({ buffer, byteOffset, byteLength }) {
  return btoa(Array.from(new Uint8Array(buffer, byteOffset, byteLength), (byte) => String.fromCharCode(byte)).join(""));
}

function toTensor(ort, input) {
  const [type, Holder] = typeOf(input.dtype);
  if (type === "string") return new ort.Tensor(type, input.data, input.shape);
  return new ort.Tensor(type, new Holder(bytesOf(input.data).buffer), input.shape);
}

function fromTensor({ type, dims, data }) {
  const dtype = Object.keys(TYPES).find((name) => TYPES[name][0] === type);
  return { dtype, shape: dims, data: dtype === "string" ? data : textOf(data) };
}

async function run(ort, asked, options) {
  asked.inputs.forEach((input) => typeOf(input.dtype));
  const fed = asked.inputs.filter((input) => !input.constant);
  const feeds = Object.fromEntries(fed.map((input) => [input.name, toTensor(ort, input)]));
  const session = await ort.InferenceSession.create(bytesOf(asked.model), { ...options, logSeverityLevel: 4 });
  try {
    const { output } = await session.run(feeds);
    return { output: fromTensor(output) };
  } finally {
    await session.release();
  }
}

// The answer to a case, or `died`, a text, after a trap: the module's memory is in ruins then.
export async function answerTo(ort, asked, options) {
  try {
    return await run(ort, asked, options);
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) return { died: String(error) };
    const text = String(error?.message ?? error);
    if (error instanceof Unsupported || UNSUPPORTED.some((said) => text.includes(said))) return { unsupported: text };
    return REFUSED.test(text) ? { refused: text } : { broken: text };
  }
}
