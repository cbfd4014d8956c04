// onnxruntime-web (WebAssembly) as a peer of `padops conformance`: reads cases from the standard input, one JSON object a
// line, and answers each with a line. It takes onnxruntime-web from the folder that it is started in.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { dirname, join } from "node:path";
import { readFileSync } from "node:fs";

const require = createRequire(join(process.cwd(), "package.json"));

// What the runtime prints must not stand between the answers.
const answer = (said) => process.stdout.write(JSON.stringify(said) + "\n");
console.log = console.info = console.debug = console.warn = console.error;

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

function toTensor(ort, input) {
  const [type, Holder] = typeOf(input.dtype);
  if (type === "string") return new ort.Tensor(type, input.data, input.shape);
  const bytes = Uint8Array.from(Buffer.from(input.data, "base64")); // a buffer of its own, from its start
  return new ort.Tensor(type, new Holder(bytes.buffer), input.shape);
}

function fromTensor(tensor) {
  const dtype = Object.keys(TYPES).find((name) => TYPES[name][0] === tensor.type);
  const { data } = tensor;
  const text = dtype === "string" ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
  return { dtype, shape: tensor.dims, data: text };
}

async function run(ort, asked) {
  asked.inputs.forEach((input) => typeOf(input.dtype));
  const fed = asked.inputs.filter((input) => !input.constant);
  const feeds = Object.fromEntries(fed.map((input) => [input.name, toTensor(ort, input)]));
  const model = Uint8Array.from(Buffer.from(asked.model, "base64"));
  const session = await ort.InferenceSession.create(model, { executionProviders: ["wasm"], logSeverityLevel: 4 });
  try {
    const { output } = await session.run(feeds);
    return { output: fromTensor(output) };
  } finally {
    await session.release();
  }
}

async function answerTo(ort, line) {
  try {
    return await run(ort, JSON.parse(line));
  } catch (error) {
    // After a trap the module's memory is in ruins: end, and be started again.
    if (error instanceof WebAssembly.RuntimeError) {
      process.stderr.write(`${error}\n`, () => process.exit(70));
      return new Promise(() => {});
    }
    const text = String(error?.message ?? error);
    if (error instanceof Unsupported || UNSUPPORTED.some((said) => text.includes(said))) return { unsupported: text };
    return REFUSED.test(text) ? { refused: text } : { broken: text };
  }
}

let ort;
try {
  ort = require("onnxruntime-web");
  const entry = require.resolve("onnxruntime-web");
  const { version } = JSON.parse(readFileSync(join(dirname(entry), "..", "package.json"), "utf8"));
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = "fatal";
  const versions = { "onnxruntime-web": version, node: process.versions.node };
  answer({ padops: 1, name: "onnxruntime-web", families: ["onnx"], versions });
} catch (error) {
  answer({ absent: String(error) });
  process.exit(0);
}
for await (const line of createInterface({ input: process.stdin })) answer(await answerTo(ort, line));
