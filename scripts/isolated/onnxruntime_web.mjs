// onnxruntime-web (WebAssembly) as a peer of `padops conformance`: reads cases from the standard input, one JSON object a
// line, and answers each with a line. It takes onnxruntime-web from the folder that it is started in.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { dirname, join } from "node:path";
import { readFileSync } from "node:fs";
import { answerTo } from "./onnxruntime_web_tensors.mjs";

const require = createRequire(join(process.cwd(), "package.json"));

// What the runtime prints must not stand between the answers.
const answer = (said) => process.stdout.write(JSON.stringify(said) + "\n");
console.log = console.info = console.debug = console.warn = console.error;

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
for await (const line of createInterface({ input: process.stdin })) {
  const said = await answerTo(ort, JSON.parse(line), { executionProviders: ["wasm"] });
  if (said.died) { // end, and be started again
    process.stderr.write(`${said.died}\n`, () => process.exit(70));
    break;
  }
  answer(said);
}
