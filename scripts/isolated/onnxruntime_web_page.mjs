// The page of onnxruntime_web_webgpu.mjs: takes cases from the events of `/cases`, and sends each answer to `/said`.
// `/#stock` allows no node to run anywhere but on WebGPU.

import { answerTo } from "./onnxruntime_web_tensors.mjs";

const say = (said) => fetch("/said", { method: "POST", body: JSON.stringify(said) });

async function start() {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) return say({ absent: "this Chromium has no adapter for WebGPU" });
  const { lost } = await adapter.requestDevice(); // ends with the browser's process for the GPU, as all devices do
  lost.then(({ message }) => say({ died: `the GPU's process has ended: ${message}` }));
  const ort = await import("/dist/ort.webgpu.min.mjs");
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = "fatal";
  const stock = location.hash === "#stock";
  const extra = { session: { disable_cpu_ep_fallback: stock ? "1" : "0" } };
  const options = { executionProviders: ["webgpu"], extra };
  const { uaFullVersion } = await navigator.userAgentData.getHighEntropyValues(["uaFullVersion"]);
  await say({ ready: { chromium: uaFullVersion } });
  const cases = new EventSource("/cases");
  cases.onmessage = async ({ data }) => say(await answerTo(ort, JSON.parse(data), options));
}

start().catch((error) => say({ absent: String(error) }));
