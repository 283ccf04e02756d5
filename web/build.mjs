// Builds web/dist/recast.html, the page as one file: node web/build.mjs MODULE GLUE
//
// MODULE is the WebAssembly module, GLUE the script of wasm-bindgen for it. The style and the script of reports are taken from a page that
// the module writes, so that both show the same.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { constants, gzipSync } from "node:zlib";

const web = dirname(fileURLToPath(import.meta.url));
const [modulePath, gluePath] = process.argv.slice(2);
const read = (...path) => readFileSync(join(web, ...path), "utf8");
const wasm = readFileSync(modulePath);
const glue = readFileSync(gluePath, "utf8");

const example = "fp8_qdq.onnx";
const model = readFileSync(join(web, "../models", example));

const bindings = new Function(`${glue}; return wasm_bindgen;`)();
bindings.initSync({ module: new WebAssembly.Module(wasm) });
globalThis.recastProgress = () => {};

// A run of the command that the module has, on the example.
function runOf(...args) {
  const run = new bindings.Run();
  run.insert(example, { size: model.length, read: (offset, out) => out.set(model.subarray(offset, offset + out.length)) });
  if (run.run(args) !== 0) throw new Error(run.errors);
  return run;
}

// The page of a report.
function report() {
  const run = runOf("report", example, "-o", "report.html");
  return Buffer.concat(run.parts(0).map(({ length }, part) => run.read(0, part, 0, length))).toString();
}

// The versions of each runtime, the newest first: all minor ones of a range in which the major one is the same.
function runtimes() {
  const found = {};
  for (const { runtime, first, last } of JSON.parse(runOf("targets", "--format", "json").output).targets) {
    const [[major, from], [lastMajor, to]] = [first, last].map((version) => version.split(".").map(Number));
    const isRange = major === lastMajor && first.split(".").length === 2 && from < to;
    const versions = isRange ? Array.from({ length: to - from + 1 }, (_, index) => `${major}.${to - index}`) : [...new Set([last, first])];
    found[runtime] = [...versions, ...(found[runtime] ?? [])];
  }
  return found;
}

function between(text, start, end) {
  const from = text.indexOf(start) + start.length;
  const to = text.indexOf(end, from);
  if (from < start.length || to < 0) throw new Error(`the report has no ${start.trim()}`);
  return text.slice(from, to);
}

const page = report();
const script = `"use strict";
(() => {
const RUNTIMES = ${JSON.stringify(runtimes())};
const EXAMPLE = ${JSON.stringify({ name: example, bytes: model.toString("base64") })};
const WORKER = ${JSON.stringify(`${glue}\n${read("page/run.js")}\n${read("page/worker.js")}`)};
${between(page, '<script>\n"use strict";\n(() => {\n', "\n})();\n</script>")}
${["jobs.js", "runner.js", "files.js", "task.js", "result.js", "fixes.js", "cast.js", "main.js"].map((file) => read("page", file)).join("\n")}
})();
`;
// No part may end the element that it is in.
if (/<\/script|<!--/i.test(script)) throw new Error("the script ends its own element");
const hash = createHash("sha256").update(script).digest("base64");
const packed = gzipSync(wasm, { level: constants.Z_BEST_COMPRESSION });
const values = {
  style: `${between(page, "<style>\n", "</style>")}${read("page/page.css")}`,
  escaped: between(page, 'data-escaped="', '"'),
  hash: `'sha256-${hash}'`,
  module: packed.toString("base64"),
  script,
};
const html = read("page/index.html").replace(/\{\{(\w+)\}\}/g, (_, key) => values[key]);
mkdirSync(join(web, "dist"), { recursive: true });
writeFileSync(join(web, "dist/recast.html"), html);
console.log(`web/dist/recast.html: ${html.length} bytes, ${gzipSync(html, { level: 9 }).length} compressed`);
