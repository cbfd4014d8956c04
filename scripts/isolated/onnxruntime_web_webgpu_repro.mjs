// HEAD

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "node:child_process";

const model = "MODEL";
const feeds = FEEDS;
const expected = EXPECTED;

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
