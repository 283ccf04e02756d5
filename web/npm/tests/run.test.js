// Any command, its errors, and large files.

import assert from "node:assert/strict";
import { test } from "node:test";

import { encoded, example, recast } from "./support.js";

const FLOAT8 = example("fp8_qdq");

test("run is the command on files in memory", () => {
  const { code, output, errors, files } = recast.run(["fold", "a.onnx", "-o", "b.onnx", "--format", "json"], { "a.onnx": FLOAT8 });
  assert.deepEqual([code, errors, Object.keys(files)], [0, "", ["b.onnx"]]);
  assert.equal(JSON.parse(output).models[0].folded.length, 3);
  assert.deepEqual(recast.run(["--version"]), { code: 0, output: `recast ${recast.version}\n`, errors: "", files: {} });
});

test("two models are one run", () => {
  const names = ["a.onnx", "b.onnx"];
  const { code, files } = recast.run(["fold", ...names, "--out-dir", "new"], { "a.onnx": FLOAT8, "b.onnx": example("annotated") });
  assert.deepEqual([code, Object.keys(files).sort()], [0, ["new/a.onnx", "new/b.onnx"]]);
  for (const [name, bytes] of [["new/a.onnx", FLOAT8], ["new/b.onnx", example("annotated")]]) {
    assert.deepEqual(files[name], recast.fold(bytes).model, name);
  }
});

// The call, the code of the error, and a part of its message.
const ERRORS = [
  ["bytes that are not a model", () => recast.fold(encoded("not a model")), "not-a-model", /model\.onnx: /],
  ["no bytes", () => recast.lint(new Uint8Array()), "not-a-model", /model\.onnx: /],
  ["an unknown option", () => recast.fold(FLOAT8, { pases: "exact" }), "usage", /--pases/],
  ["a wrong value", () => recast.precision(FLOAT8, { to: "FLOAT99" }), "usage", /FLOAT99/],
  ["a missing option", () => recast.convert(FLOAT8, {}), "usage", /--opset/],
  ["a pass that does not exist", () => recast.fold(FLOAT8, { passes: "exactt" }), "usage", /exact/],
  ["an unknown rule", () => recast.lint(FLOAT8, { select: "RC999" }), "usage", /RC999/],
];
for (const [name, call, code, message] of ERRORS) {
  test(`${name}: a RecastError with the code ${code}`, () => {
    assert.throws(call, (error) => {
      assert.ok(error instanceof recast.RecastError, error.stack);
      assert.deepEqual([error.name, error.errors[0]?.code], ["RecastError", code]);
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /^(recast|error): /);
      return true;
    });
  });
}

// The call, and a part of the message of a TypeError.
const MISUSES = [
  ["a path", () => recast.fold("model.onnx"), /model\.onnx: the content must be a Uint8Array/],
  ["an array of floats", () => recast.fold(new Float32Array(2)), /Uint8Array/],
  ["a data file that is text", () => recast.fold(FLOAT8, {}, { "w.bin": "text" }), /w\.bin: /],
  ["an option that the function sets", () => recast.lint(FLOAT8, { format: "sarif" }), /`format`/],
  ["a command line as a string", () => recast.run("fold a.onnx"), /array/],
];
for (const [name, call, message] of MISUSES) {
  test(`${name}: a TypeError`, () => assert.throws(call, (error) => error instanceof TypeError && message.test(error.message)));
}

test("a file cannot have a name outside of the folder", () => {
  assert.throws(() => recast.run(["lint"], { "../a.onnx": FLOAT8 }), recast.RecastError);
});

test("a model of 128 MiB, whose constant is cast and moved to a data file", () => {
  const elements = 1 << 25;
  const weights = Float32Array.from({ length: elements }, (_, index) => index % 2047);
  const external = `["location": "w.bin", "offset": "0", "length": "${weights.byteLength}"]`;
  const text = `<ir_version: 10, opset_import: ["": 21]> g (float16[1] x) => (float16[N] y) <float[${elements}] w = ${external}> { h = Cast <to = 10> (w) y = Add (x, h) }`;
  const given = { "m.onnxtxt": encoded(text), "w.bin": new Uint8Array(weights.buffer) };
  const inline = recast.run(["fold", "m.onnxtxt", "--passes", "none", "--external-data", "inline", "-o", "all.onnx"], given);
  assert.equal(inline.code, 0, inline.errors);
  const large = inline.files["all.onnx"];
  const { report, files } = recast.fold(large, { externalData: "half.bin" });
  assert.equal(report.folded[0].elements, elements);
  const half = new DataView(files["half.bin"].buffer);
  assert.equal(half.byteLength, 2 * elements);
  // 0x6400 is 1024 in FLOAT16, and one unit in the last place is 1 from there to 2048.
  for (const index of [1024, 1025, (1 << 24) - 6, elements - 9]) {
    const expected = 0x6400 + (index % 2047) - 1024;
    assert.equal(half.getUint16(2 * index, true), expected, `element ${index}`);
  }
});
