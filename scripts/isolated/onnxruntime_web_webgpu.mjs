// onnxruntime-web on WebGPU, in a headless Chromium, as a peer of `padops conformance`: gives each case to a page, and the
// page's answer back. It takes onnxruntime-web from the folder that it is started in.
//
// Its first argument says what models it gets. Those of the cases themselves have one node, which must run on WebGPU, or else
// the case is unsupported; nodes of others may run elsewhere. The second one is how many seconds the page has for an answer:
// fewer than it has from the suite, so that it ends in any case, and can say why.

import { createInterface } from "node:readline";
import { createServer } from "node:http";
import { dirname, extname, join } from "node:path";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { findChromium, showPage } from "./chromium_page.mjs";

const START = 50; // seconds
const [models = "stock", patience = START] = process.argv.slice(2);
const HERE = dirname(fileURLToPath(import.meta.url));
const PACKAGE = join(process.cwd(), "node_modules", "onnxruntime-web");
const PAGE = '<!doctype html><title>padops</title><script type="module" src="/onnxruntime_web_page.mjs"></script>';
const KINDS = { ".mjs": "text/javascript", ".wasm": "application/wasm" };

let browser, cases, ending, ready, waiting;

const answer = (said) => process.stdout.write(JSON.stringify(said) + "\n");

// Ends the browser, and with it this program.
function end(code, why) {
  if (ending !== undefined) return;
  ending = code;
  if (why) process.stderr.write(`${why}\n`);
  browser.stdin.end();
}

function serve(request, response) {
  const { pathname } = new URL(request.url, "http://127.0.0.1");
  if (pathname === "/said") return receive(request, response);
  if (pathname === "/cases") return listen(response);
  if (pathname === "/") return response.setHeader("content-type", "text/html").end(PAGE);
  const [, folder, file] = pathname.match(/^\/(dist\/)?([\w.-]+)$/) ?? [];
  const path = file && join(folder ? join(PACKAGE, "dist") : HERE, file);
  if (!path || !existsSync(path)) return response.writeHead(404).end();
  response.setHeader("content-type", KINDS[extname(path)] ?? "application/octet-stream").end(readFileSync(path));
}

function listen(response) {
  cases = response.writeHead(200, { "content-type": "text/event-stream" });
  cases.write("\n");
  cases.on("close", () => end(70, "the page has ended"));
  waiting(ready);
}

async function receive(request, response) {
  let text = "";
  for await (const part of request.setEncoding("utf8")) text += part;
  response.end();
  const said = JSON.parse(text);
  if (said.died) return end(70, said.died);
  if (said.ready) ready = said.ready;
  else waiting(said);
}

// What the page says next: who it is, or an answer.
function next(seconds) {
  return new Promise((resolve) => {
    const late = setTimeout(() => end(70, `no answer of the page within ${seconds} s`), seconds * 1000);
    waiting = (said) => {
      clearTimeout(late);
      resolve(said);
    };
  });
}

async function main() {
  if (!findChromium()) return answer({ absent: "no Chromium is on the PATH (Debian, Ubuntu: apt-get install chromium)" });
  let version;
  try {
    ({ version } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")));
  } catch (error) {
    return answer({ absent: String(error) });
  }
  const server = createServer(serve);
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  browser = showPage(`http://127.0.0.1:${server.address().port}/#${models}`);
  browser.on("exit", () => {
    end(70, "Chromium has ended");
    process.exit(ending);
  });
  const { absent, ...versions } = await next(START);
  if (absent) {
    answer({ absent });
    return end(0);
  }
  versions.node = process.versions.node;
  answer({ padops: 1, name: "onnxruntime-web-webgpu", families: ["onnx"], versions: { "onnxruntime-web": version, ...versions } });
  for await (const line of createInterface({ input: process.stdin })) {
    const said = next(patience);
    cases.write(`data: ${line}\n\n`);
    answer(await said);
  }
  end(0);
}

await main();
