// The package as npm packs it: its files, its example and its declarations.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { PACKAGE, ROOT, recast } from "./support.js";

let folder, packed;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "recast-npm-"));
  [packed] = JSON.parse(execFileSync("npm", ["pack", "--json", "--pack-destination", folder, PACKAGE], { encoding: "utf8" }));
});
after(() => rmSync(folder, { recursive: true }));

test("the archive has the files of the package alone", () => {
  const files = packed.files.map(({ path }) => path).sort();
  assert.deepEqual(files, ["LICENSE", "README.md", "bindings.js", "error.js", "index.d.ts", "index.js", "operations.js", "package.json", "recast.wasm", "run.js"]);
  assert.equal(packed.version, recast.version);
});

test("the example of the README runs with the installed package", () => {
  const installed = join(folder, "node_modules/onnx-recast");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", join(folder, packed.filename), "-C", installed, "--strip-components=1"]);
  const example = readFileSync(join(PACKAGE, "README.md"), "utf8").match(/^```js\n(.*?)^```/ms)[1];
  writeFileSync(join(folder, "example.mjs"), example);
  copyFileSync(join(ROOT, "models/fp8_qdq.onnx"), join(folder, "model.onnx"));
  const printed = execFileSync(process.execPath, ["example.mjs"], { cwd: folder, encoding: "utf8" });
  assert.match(printed, /^RC104 values beyond the largest FLOAT8E4M3FN/);
  assert.match(printed, /^folded 3 casts$/m);
  assert.match(printed, /^graph\/.* type-unsupported$/m);
  assert.deepEqual(readFileSync(join(folder, "folded.onnx")).equals(Buffer.from(recast.fold(readFileSync(join(folder, "model.onnx"))).model)), true);
});

test("index.d.ts declares what index.js exports", () => {
  const declared = readFileSync(join(PACKAGE, "index.d.ts"), "utf8").matchAll(/^export (?:function|class|const) (\w+)/gm);
  assert.deepEqual([...declared].map(([, name]) => name).sort(), Object.keys(recast).sort());
});
