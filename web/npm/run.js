// Runs of the command on bytes.

import { readFileSync } from "node:fs";

import { failureOf, instantiate, runOn } from "./bindings.js";
import { RecastError } from "./error.js";

// Bytes that are computed at a time.
const CHUNK = 16 << 20;
let compiled;

// The version of the package.
export const version = JSON.parse(readFileSync(new URL("./package.json", import.meta.url), "utf8")).version;

// Runs the command with these arguments; the files are those of its current folder.
export function run(args, files = {}) {
  if (!Array.isArray(args)) throw new TypeError("the arguments must be an array of strings");
  const given = Object.entries(files).map(([name, bytes]) => ({ name, bytes: bytesOf(name, bytes) }));
  compiled ??= new WebAssembly.Module(readFileSync(new URL("./recast.wasm", import.meta.url)));
  // Each run has an instance of the module, so that its memory is freed, and a run that fails leaves nothing behind.
  let bindings;
  try {
    bindings = instantiate(compiled);
    const sources = given.map(({ name, bytes }) => ({ name, source: sourceOf(bytes) }));
    const { run: finished, written, ...result } = runOn(bindings, args.map(String), sources);
    const contents = written.map(({ name, parts }, file) => [name, contentOf(finished, file, parts, given)]);
    return { ...result, files: Object.fromEntries(contents) };
  } catch (error) {
    throw new RecastError(bindings ? failureOf(bindings, error, "the module") : String(error), { cause: error });
  }
}

// The content of a file, not copied.
export function bytesOf(name, bytes) {
  if (bytes instanceof Uint8Array) return bytes;
  if (bytes instanceof ArrayBuffer) return new Uint8Array(bytes);
  throw new TypeError(`${name}: the content must be a Uint8Array or an ArrayBuffer`);
}

function sourceOf(bytes) {
  return { size: bytes.length, read: (offset, out) => out.set(bytes.subarray(offset, offset + out.length)) };
}

// The bytes of a written file. Parts of given files are copied from them, without passing through the module.
function contentOf(finished, file, parts, given) {
  const content = new Uint8Array(parts.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const [part, { length, file: source, offset }] of parts.entries()) {
    if (source === undefined) {
      for (let start = 0; start < length; start += CHUNK) {
        content.set(finished.read(file, part, start, Math.min(CHUNK, length - start)), at + start);
      }
    } else {
      content.set(given[source].bytes.subarray(offset, offset + length), at);
    }
    at += length;
  }
  return content;
}
