// HEAD

import * as ort from "onnxruntime-web";

const model = Buffer.from("MODEL", "base64");
const feeds = FEEDS;
const expected = EXPECTED;

const HOLDERS = {
  float: ["float32", Float32Array], double: ["float64", Float64Array], float16: ["float16", Uint16Array],
  int8: ["int8", Int8Array], int16: ["int16", Int16Array], int32: ["int32", Int32Array], int64: ["int64", BigInt64Array],
  uint8: ["uint8", Uint8Array], uint16: ["uint16", Uint16Array], uint32: ["uint32", Uint32Array],
  uint64: ["uint64", BigUint64Array], bool: ["bool", Uint8Array],
};

function elements({ dtype, data }) {
  return new HOLDERS[dtype][1](Uint8Array.from(Buffer.from(data, "base64")).buffer);
}

function bytes(array) {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("base64");
}

ort.env.wasm.numThreads = 1;
console.log("expected:", expected === null ? "an error" : `${expected.dtype}[${expected.shape}]`);
if (expected !== null) console.log(elements(expected));
let output;
try {
  const session = await ort.InferenceSession.create(Uint8Array.from(model), { logSeverityLevel: 4 });
  const given = Object.entries(feeds).map(([name, said]) => [
    name, new ort.Tensor(HOLDERS[said.dtype][0], elements(said), said.shape),
  ]);
  ({ output } = await session.run(Object.fromEntries(given)));
} catch (error) {
  console.log("got an error:", error.message ?? error);
  const refused = /ERROR_CODE: \d+, ERROR_MESSAGE: /.test(error.message); // any other error is a fault
  process.exit(expected === null && refused ? 0 : 1);
}
console.log(`got: ${output.type}[${output.dims}]`);
console.log(output.data);
const same = expected !== null && String(output.dims) === String(expected.shape) && bytes(output.data) === expected.data;
console.log(same ? "the same bits" : "different");
process.exit(same ? 0 : 1);
