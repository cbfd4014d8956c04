// node chromium_page.mjs URL: shows a page in a headless Chromium for as long as the standard input is open. With its end,
// or the browser's, all that the browser has started and written goes. In a session of its own it does so, too, where who
// has started it is killed.

import { accessSync, constants, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"];
const FLAGS = [
  "--headless=new", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-sync", "--disable-background-networking",
  "--disable-component-update", "--disable-dev-shm-usage",
  "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader",
];

// The browser's path, or undefined.
export function findChromium() {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

// Starts this file as a program, in a session of its own; its standard input is a pipe.
export function showPage(url) {
  return spawn(process.execPath, [fileURLToPath(import.meta.url), url], { detached: true, stdio: ["pipe", "ignore", "inherit"] });
}

function main(url) {
  const folder = mkdtempSync(join(tmpdir(), "padops-"));
  const log = join(folder, "log"); // hundreds of lines; what has ended it, if anything, is in one
  const env = { ...process.env, HOME: folder, TMPDIR: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder };
  const options = { detached: true, env, stdio: ["ignore", "ignore", openSync(log, "w")] }; // a group, to be killed as one
  const browser = spawn(findChromium(), [...FLAGS, `--user-data-dir=${join(folder, "profile")}`, url], options);
  const end = () => {
    try {
      process.kill(-browser.pid, "SIGKILL");
    } catch {
      // they have ended
    }
  };
  browser.on("exit", () => {
    end(); // its children
    for (const [line] of readFileSync(log, "utf8").matchAll(/.*:FATAL:.*\n/g)) process.stderr.write(line);
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    process.exit(0);
  });
  process.stdin.on("close", end).resume();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv[2]);
