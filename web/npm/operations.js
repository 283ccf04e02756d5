// The commands of recast on models in memory.

import { RecastError } from "./error.js";
import { bytesOf, run } from "./run.js";

const MODEL = "model.onnx";
const OUTPUT = "output.onnx";
// Options that change what is printed, or where the model goes.
const RESERVED = ["format", "help", "output", "version"];

export const fold = (model, options, files) => rewritten("fold", model, options, files);

export const convert = (model, options, files) => rewritten("convert", model, options, files);

export const precision = (model, options, files) => rewritten("precision", model, options, files);

export function lint(model, options, files) {
  return reported(["lint", MODEL], options, { ...files, [MODEL]: model }).report.findings;
}

// The command fixes the model in place, and does not write it if there is nothing to fix.
export function fix(model, options, files) {
  const { report, written } = reported(["lint", MODEL, "--fix"], options, { ...files, [MODEL]: model });
  const { [MODEL]: fixed = new Uint8Array(bytesOf(MODEL, model)), ...others } = written;
  return { model: fixed, report, files: others };
}

export function inspect(model, options, files) {
  return reported(["inspect", MODEL], options, { ...files, [MODEL]: model }).report;
}

export function diff(left, right, options, files) {
  return reported(["diff", "left.onnx", "right.onnx"], options, { ...files, "left.onnx": left, "right.onnx": right }).report.differences;
}

function rewritten(command, model, options, files) {
  const { code, report: document, written } = reported([command, MODEL, "--output", OUTPUT], options, { ...files, [MODEL]: model });
  const report = document.models[0];
  if (code !== 0) throw new RecastError(refusal(report), { report });
  const { [OUTPUT]: output, ...others } = written;
  return { model: output, report, files: others };
}

function refusal({ blockers: [first, ...others] }) {
  return `${first.node}: ${first.reason}${others.length ? `; and ${others.length} more nodes that cannot be converted` : ""}`;
}

// Runs a command that prints a JSON document. Exit code 1 is an answer: findings, differences, or a conversion that is not possible.
function reported(command, options, files) {
  const { code, output, errors: said, files: written } = run([...command, "--format", "json", ...argumentsOf(options)], files);
  const report = documentOf(output);
  if (report && code <= 1) return { code, report, written };
  const errors = report?.errors ?? [];
  const messages = errors.map(({ path, place, message }) => [path, place, message].filter(Boolean).join(": "));
  throw new RecastError(messages.join("\n") || said, { errors, report: report?.models?.[0] });
}

function documentOf(output) {
  try {
    return JSON.parse(output);
  } catch {
    return null;
  }
}

// `{externalData: "w.bin", fix: true, select: ["RC1", "RC2"]}` as `--external-data=w.bin --fix --select=RC1 --select=RC2`.
function argumentsOf(options = {}) {
  return Object.entries(options).flatMap(([key, value]) => {
    const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    if (RESERVED.includes(name)) throw new TypeError(`\`${key}\` is not an option of this function; use run()`);
    if (value === undefined || value === false) return [];
    return value === true ? [`--${name}`] : [value].flat().map((item) => `--${name}=${item}`);
  });
}
