// Writes the npm package to web/dist/npm: node web/npm/build.mjs MODULE GLUE
//
// MODULE is the WebAssembly module, GLUE the script of wasm-bindgen for it, which is a classic script: it becomes a function that creates an
// instance of the module.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const package_ = join(here, "../dist/npm");
const [modulePath, gluePath] = process.argv.slice(2);

const bindings = `// Written by web/npm/build.mjs.

// Creates an instance of the module. The script of wasm-bindgen calls \`recastProgress\`.
export function instantiate(module) {
const recastProgress = () => {};
${readFileSync(gluePath, "utf8")}
wasm_bindgen.initSync({ module });
return wasm_bindgen;
}

${readFileSync(join(here, "../page/run.js"), "utf8").replace(/^function /gm, "export function ")}`;

rmSync(package_, { recursive: true, force: true });
mkdirSync(package_, { recursive: true });
writeFileSync(join(package_, "bindings.js"), bindings);
copyFileSync(modulePath, join(package_, "recast.wasm"));
for (const file of ["error.js", "index.d.ts", "index.js", "operations.js", "package.json", "README.md", "run.js"]) {
  copyFileSync(join(here, file), join(package_, file));
}
copyFileSync(join(here, "../../LICENSE"), join(package_, "LICENSE"));
console.log("web/dist/npm: the npm package");
