// The package that web/build writes, and the example models.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import * as recast from "../../dist/npm/index.js";

export { recast };
export const PACKAGE = fileURLToPath(new URL("../../dist/npm/", import.meta.url));
export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
export const encoded = (text) => new TextEncoder().encode(text);
export const example = (name) => readFileSync(`${ROOT}models/${name}.onnx`);

// A model given as ONNX text; a command that changes nothing writes its bytes.
export function model(text, ...options) {
  const { code, errors, files } = recast.run(["fold", "m.onnxtxt", "--passes", "none", "-o", "m.onnx", ...options], { "m.onnxtxt": encoded(text) });
  if (code !== 0) throw new Error(errors);
  const { "m.onnx": bytes, ...others } = files;
  return { bytes, files: others };
}
