// onnxruntime-web-webgpu: Pad_23 of opset 23, mode wrap, int32, rank 2.
//
// behind a crop, other elements are taken [P2]
//
// Needs onnxruntime-web, Chromium (chromium, or what CHROMIUM names).
// Exits 1 where the output is not the expected one, 0 where it is.
// Made by: padops conformance repro table/Pad_23/wrap/int32/2/mixed/one/vector/absent.flat/static/0 --peer onnxruntime-web-webgpu
// Seen in onnxruntime-web 1.30.0, chromium 156.0.8078.79, node 20.20.2.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "node:child_process";

const model = "CAs6oQEKQAoHaW5wdXRfMAoHaW5wdXRfMQoHaW5wdXRfMhIGb3V0cHV0GgNwYWQiA1BhZCoPCgRtb2RlIgR3cmFwoAEDOgASBGNhc2VaGQoHaW5wdXRfMBIOCgwIBhIICgIIBAoCCAFaFQoHaW5wdXRfMRIKCggIBxIECgIIBFoVCgdpbnB1dF8yEgoKCAgGEgQKAggBYg4KBm91dHB1dBIECgIIBkIECgAQFw==";
const feeds = {"input_0": {"dtype": "int32", "shape": [4, 1], "data": "UE7m3+RO+Bj1cL2bLsaxKA=="}, "input_1": {"dtype": "int64", "shape": [4], "data": "/f////////8AAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAA="}, "input_2": {"dtype": "int32", "shape": [1], "data": "aYR5IA=="}};
const expected = {"dtype": "int32", "shape": [2, 1], "data": "LsaxKC7GsSg="};

// What the page does: it says lines, and at its end whether the bits are the expected ones.
const script = `
import * as ort from "/node_modules/onnxruntime-web/dist/ort.webgpu.min.mjs";

const { model, feeds, expected } = ${JSON.stringify({ model, feeds, expected })};
const HOLDERS = {
  float: ["float32", Float32Array], double: ["float64", Float64Array], float16: ["float16", Uint16Array],
  int8: ["int8", Int8Array], int16: ["int16", Int16Array], int32: ["int32", Int32Array], int64: ["int64", BigInt64Array],
  uint8: ["uint8", Uint8Array], uint16: ["uint16", Uint16Array], uint32: ["uint32", Uint32Array],
  uint64: ["uint64", BigUint64Array], bool: ["bool", Uint8Array],
};
const decoded = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const elements = ({ dtype, data }) => new HOLDERS[dtype][1](decoded(data).buffer);
const bytes = ({ buffer, byteOffset, byteLength }) => String(new Uint8Array(buffer, byteOffset, byteLength));

const lines = ["expected: " + (expected ? expected.dtype + "[" + expected.shape + "]" : "an error")];
if (expected) lines.push(String(elements(expected)));
let same = false;
try {
  ort.env.wasm.numThreads = 1;
  const extra = { session: { disable_cpu_ep_fallback: "1" } }; // WebGPU, and nothing else
  const options = { executionProviders: ["webgpu"], extra, logSeverityLevel: 4 };
  const session = await ort.InferenceSession.create(decoded(model), options);
  const given = Object.entries(feeds).map(([name, said]) => [
    name, new ort.Tensor(HOLDERS[said.dtype][0], elements(said), said.shape),
  ]);
  const { output } = await session.run(Object.fromEntries(given));
  lines.push("got: " + output.type + "[" + output.dims + "]", String(output.data));
  same = expected && String(output.dims) === String(expected.shape) && bytes(output.data) === String(decoded(expected.data));
  lines.push(same ? "the same bits" : "different");
} catch (error) {
  lines.push("got an error: " + (error.message ?? error));
  same = !expected && /ERROR_CODE: \\d+, ERROR_MESSAGE: /.test(error.message); // any other error is a fault
}
await fetch("/said", { method: "POST", body: JSON.stringify({ lines, same }) });
`;

const KINDS = { mjs: "text/javascript", wasm: "application/wasm" };
const server = createServer(async (request, response) => {
  if (request.url === "/") return response.setHeader("content-type", "text/html").end(`<script type="module">${script}</script>`);
  if (request.url === "/said") {
    const { lines, same } = JSON.parse((await request.setEncoding("utf8").toArray()).join(""));
    console.log(lines.join("\n"));
    return process.exit(same ? 0 : 1);
  }
  const path = join(process.cwd(), request.url);
  if (!existsSync(path)) return response.writeHead(404).end();
  response.setHeader("content-type", KINDS[path.split(".").pop()] ?? "text/plain").end(readFileSync(path));
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));

const folder = mkdtempSync(join(tmpdir(), "chromium-"));
const flags = [
  "--headless=new", "--no-sandbox", "--no-first-run", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader",
  `--user-data-dir=${folder}`, `http://127.0.0.1:${server.address().port}/`,
];
const options = { detached: true, env: { ...process.env, TMPDIR: folder }, stdio: "ignore" };
const browser = spawn(process.env.CHROMIUM ?? "chromium", flags, options);
for (const event of ["error", "exit"]) browser.on(event, (what) => {
  console.error(`Chromium has ended: ${what}`);
  process.exit(2);
});
process.on("exit", () => {
  if (browser.pid && browser.exitCode === null) process.kill(-browser.pid, "SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});
