// Each function on bytes, with the results of the command.

import assert from "node:assert/strict";
import { test } from "node:test";

import { encoded, example, model, recast } from "./support.js";

const FLOAT8 = example("fp8_qdq");
const HEAD = '<ir_version: 10, opset_import: ["": 21]>';

test("fold replaces the casts of constants", () => {
  const before = Uint8Array.from(FLOAT8);
  const { model: folded, report, files } = recast.fold(FLOAT8);
  assert.deepEqual(report.folded.map(({ node, from, to }) => [node, from, to]), [
    ["graph/zero_point_cast", "FLOAT", "FLOAT8E4M3FN"],
    ["graph/up_weight_cast", "FLOAT", "FLOAT8E4M3FN"],
    ["graph/down_weight_cast", "FLOAT", "FLOAT8E5M2"],
  ]);
  assert.equal(report.bytes_out, folded.length);
  assert.deepEqual(Object.keys(files), []);
  assert.deepEqual(recast.inspect(folded).casts, []);
  assert.deepEqual(Uint8Array.from(FLOAT8), before, "the given bytes changed");
});

test("a fold that changes nothing returns the same bytes, but not the given ones", () => {
  const bytes = recast.fold(FLOAT8).model;
  const again = recast.fold(bytes).model;
  assert.deepEqual(again, bytes);
  assert.notEqual(again.buffer, bytes.buffer);
});

test("convert changes the opset, and diff lists what changed", () => {
  const { model: converted, report } = recast.convert(example("transformer_fp16"), { opset: 15 });
  assert.deepEqual(report.to, { "ai.onnx": 15 });
  assert.equal(recast.diff(converted, converted).length, 0);
  assert.ok(recast.diff(example("transformer_fp16"), converted).some(({ path, left, right }) => path === "ir_version" && `${left} ${right}` === "9 8"));
});

test("a conversion that is refused names the nodes, and why", () => {
  const refused = () => recast.convert(FLOAT8, { opset: 18 });
  assert.throws(refused, (error) => {
    assert.ok(error instanceof recast.RecastError && error instanceof Error);
    assert.match(error.message, /^graph\/zero_point_cast: output 'zero_e4m3' is .*; and 2 more nodes that cannot be converted$/);
    assert.deepEqual(error.errors, []);
    assert.deepEqual([error.report.blockers.length, error.report.blockers[0].code], [3, "type-unsupported"]);
    return true;
  });
});

test("precision changes the types of values", () => {
  const { bytes } = model(`${HEAD} g (float[2] x) => (float[2] y) <float[2] w = {0.1, 100000.0}> { y = Add (x, w) }`);
  const { report } = recast.precision(bytes, { to: "BFLOAT16" });
  assert.deepEqual([report.to, report.tensors.map(({ tensor, overflowed }) => [tensor, overflowed])], ["BFLOAT16", [["graph/w", 0]]]);
  const kept = recast.precision(bytes, { to: "FLOAT16", onOverflow: "keep", io: ["x=FLOAT16", "y=FLOAT16"] }).report;
  assert.deepEqual(kept.kept.map(({ code }) => code), ["unsafe-constant"]);
});

test("lint returns the findings, with a recast.toml beside the model", () => {
  const codes = (options, files) => recast.lint(FLOAT8, options, files).map(({ code }) => code);
  assert.deepEqual(codes({ select: ["RC101", "RC104"] }), ["RC101", "RC104"]);
  assert.deepEqual(codes({ select: "RC101,RC104" }), ["RC101", "RC104"]);
  assert.deepEqual(codes({}, { "recast.toml": encoded('[lint]\nselect = ["RC104"]\n') }), ["RC104"]);
  assert.deepEqual(recast.lint(recast.fold(FLOAT8).model, { select: "RC101" }), []);
});

test("fix applies the safe fixes, and returns the model itself if there are none", () => {
  const { model: fixed, report } = recast.fix(FLOAT8, { select: "RC101" });
  assert.deepEqual([report.fixed.map(({ code }) => code), report.findings], [["RC101"], []]);
  assert.deepEqual(recast.lint(fixed, { select: "RC101" }), []);
  const again = recast.fix(fixed.buffer, { select: "RC101" });
  assert.deepEqual([again.report.fixed, again.model], [[], fixed]);
});

test("inspect describes a model", () => {
  const { nodes, opsets, casts } = recast.inspect(FLOAT8);
  assert.deepEqual([nodes, opsets, casts.length], [12, { "ai.onnx": 19 }, 3]);
});

test("data files are read and written by name", () => {
  const { bytes, files } = model(
    `${HEAD} g (float16[2000] x) => (float16[2000] y) <float[2000] w = {${Array(2000).fill("0.5").join(", ")}}> { c = Cast <to = 10> (w) y = Add (x, c) }`,
    "--external-data", "w.bin",
  );
  assert.deepEqual([Object.keys(files), files["w.bin"].length], [["w.bin"], 8000]);
  const moved = recast.fold(bytes, { externalData: "half.bin" }, files);
  assert.deepEqual(Object.keys(moved.files), ["half.bin"]);
  // 0.5 in FLOAT16.
  assert.ok(Buffer.from(moved.files["half.bin"]).equals(Buffer.alloc(4000, Buffer.from([0x00, 0x38]))));
  const inline = recast.fold(bytes, { externalData: "inline" }, files);
  assert.ok(inline.model.length > 4000 && Object.keys(inline.files).length === 0);
  assert.throws(() => recast.fold(bytes, { externalData: "inline" }), ({ errors }) => errors[0].code === "bad-external-data");
});

test("a new data file takes each tensor from its place in the old one", () => {
  const numbers = (first) => Array.from({ length: 500 }, (_, index) => `${first + index}.0`).join(", ");
  const text = `${HEAD} g (float[500] x) => (float[500] y) <float[500] u = {${numbers(0)}}, float[500] v = {${numbers(1000)}}> { a = Add (x, u) y = Add (a, v) }`;
  const { bytes, files } = model(text, "--external-data", "old.bin");
  const moved = recast.fold(bytes, { externalData: "new.bin" }, files);
  const differences = (other) => recast.diff(bytes, moved.model, { ignore: "stored" }, { ...files, ...other });
  assert.deepEqual(differences(moved.files), []);
  assert.notDeepEqual(differences({ "new.bin": new Uint8Array(moved.files["new.bin"].length) }), []);
});
