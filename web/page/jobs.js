// What can be done with a model: the options of each task, and its command line.

// A field: its key, which is also the option of the command, its label, its default, and its choices, some in groups; a text without choices, a
// box if the default is false. An option that has its default is not stated. `excludes` names fields that get their defaults when it is set.
const UNVERIFIED = { key: "no-verify", label: "Do not verify the result", value: false };
const FREEZE = { key: "freeze-initializers", label: "Initializers that are inputs are constants", value: false };
const EXTERNAL = { key: "external-data", label: "Where tensor values go", value: "keep", choices: { keep: "where they are", inline: "into the model file" }, other: "a data file: its name" };
const CONTESTED = { key: "contested", label: "Results on which ONNX and runtimes disagree", value: "skip", choices: { skip: "keep the node", text: "as ONNX's text says", runtime: "as runtimes compute" } };
const UNDEFINED = { key: "undefined", label: "Values that ONNX leaves undefined", value: "skip", choices: { skip: "keep the cast", fold: "fold it" } };
const METADATA = { key: "drop-metadata", label: "Remove metadata", value: false };
// RUNTIMES are the versions of each runtime, the newest first.
const BY_RUNTIME = Object.fromEntries(Object.entries(RUNTIMES).map(([runtime, versions]) => [runtime, Object.fromEntries(versions.map((version) => [`${runtime}@${version}`, `${runtime} ${version}`]))]));
const TARGET = { key: "target", label: "For the runtime", value: "", choices: { "": "any", ...BY_RUNTIME } };
const OPSETS = Object.fromEntries(Array.from({ length: 28 }, (_, index) => [28 - index, `${28 - index}`]));

const JOBS = {
  look: {
    title: "Inspect", run: "Inspect", fields: [],
    hint: "What the model contains, which casts would fold and why the others would not, what is wrong, and which runtimes run it.",
    args: (_, { model }) => ["report", model, "-o", REPORT],
  },
  lint: {
    title: "Lint", run: "Check",
    hint: "Unsafe, invalid and redundant casts. A finding below says why it is one, and its fix can be applied there.",
    fields: [
      { key: "select", label: "Rules: codes, prefixes or ALL", value: "", placeholder: "the default rules" },
      { key: "ignore", label: "Rules to leave out", value: "" },
      TARGET, FREEZE,
      { key: "fix", label: "Apply all safe fixes", value: false },
      { key: "unsafe-fixes", label: "Apply fixes that guess the intent, too", value: false },
    ],
    args: (values, { model }) => ["lint", model, ...optionsOf("lint", values), "--report", REPORT],
    refusal: "there are findings",
  },
  fold: {
    title: "Fold", run: "Fold",
    hint: "Casts of constants become constants, to the bit. Everything else stays as it is, byte for byte.",
    fields: [
      { key: "passes", label: "Passes", value: "default", choices: { default: "casts of constants", exact: "all exact passes" }, other: "a list of passes" },
      UNDEFINED, CONTESTED, EXTERNAL, FREEZE, METADATA, UNVERIFIED,
    ],
    args: (values, files) => written("fold", values, files, "folded"),
  },
  convert: {
    title: "Convert", run: "Convert",
    hint: "To another opset, or to what a runtime runs. The result is equivalent, or the reasons why there is none are listed.",
    fields: [
      { key: "opset", label: "To the opset", value: "", choices: { "": "28, or as the runtime needs", ...OPSETS }, excludes: ["target", "lowest"] },
      { ...TARGET, excludes: ["opset"] },
      { key: "lowest", label: "To the lowest opset that works", value: false, excludes: ["opset"] },
      { key: "explicit", label: "Default attributes of casts", value: "relevant", choices: { relevant: "explicit where they matter", all: "explicit", none: "implicit" } },
      { key: "ir-version", label: "IR version", value: "auto", choices: { auto: "as the opset requires", keep: "that of the model" }, other: "a number" },
      EXTERNAL, FREEZE, METADATA, UNVERIFIED,
    ],
    args: (values, files) => written("convert", values.opset || values.target || values.lowest ? values : { ...values, opset: "latest" }, files, "converted"),
    refusal: "some nodes cannot be converted",
  },
  precision: {
    title: "Precision", run: "Change the precision",
    hint: "Values of type FLOAT become FLOAT16 or BFLOAT16 with the fewest casts. Each constant is rounded once, and what it loses is listed.",
    fields: [
      { key: "to", label: "To", value: "", required: "FLOAT16", choices: { "": "FLOAT16", BFLOAT16: "BFLOAT16", FLOAT: "FLOAT" } },
      { key: "policy", label: "Operators that are sensitive", value: "stable", choices: { stable: "keep their types", all: "change, too" } },
      { key: "io", label: "Inputs and outputs", value: "keep", choices: { keep: "keep their types", convert: "change, too" } },
      { key: "on-overflow", label: "Constants beyond the range", value: "mask", choices: { mask: "bounded in masks, else kept", keep: "kept", saturate: "the largest number", infinity: "infinity", refuse: "an error" } },
      { key: "on-underflow", label: "Constants that would become zero", value: "allow", choices: { allow: "zero, where nothing divides by them", keep: "kept", refuse: "an error" } },
      { key: "quantized", label: "Quantized operators", value: "keep", choices: { keep: "keep their types", scales: "change with their scales" } },
      { key: "keep-op", label: "Operators that keep their types", value: "", placeholder: "Softmax,LayerNormalization" },
      { key: "keep-node", label: "Nodes that keep their types", value: "", placeholder: "*/attention/*" },
      TARGET,
      { key: "weights-only", label: "Only store constants narrowly", value: false },
      { key: "emulate", label: "Keep FLOAT, and round each value that would change", value: false },
      EXTERNAL, UNVERIFIED,
    ],
    args: (values, files) => written("precision", values, files, (values.to || "float16").toLowerCase()),
  },
  diff: {
    title: "Compare", run: "Compare", fields: [{ key: "other", label: "With", value: "", choices: {} }],
    hint: "Everything in which two models differ: fields, nodes and values of tensors.",
    args: (_, { model, other }) => ["report", model, other, "-o", REPORT],
  },
  cast: {
    title: "Cast", run: "Cast",
    hint: "What ONNX's Cast makes of a number in every type: its bits, its value, and what saturate and round_mode change.",
    fields: [
      { key: "number", label: "Number", value: "", placeholder: "0.1, -448.5, 1e39, inf, nan" },
      { key: "opset", label: "By the rules of opset", value: "28", choices: OPSETS },
      { key: "undefined", label: "Results that ONNX leaves undefined", value: "skip", choices: { skip: "are an error", fold: "are those of recast" } },
      { key: "contested", label: "Results on which ONNX and runtimes disagree", value: "skip", choices: { skip: "are an error", text: "are those of ONNX's text", runtime: "are those of runtimes" } },
    ],
  },
};

// The file of the page that a run writes.
const REPORT = "report.html";

// The options of a task that do not have their defaults.
function optionsOf(job, values) {
  return JOBS[job].fields.flatMap(({ key, value: usual, required, choices }) => {
    const value = values[key] ?? usual;
    if (value === usual && !required) return [];
    if (usual === false) return [`--${key}`];
    if (value === "") return required ? [`--${key}`, required] : [];
    return [choices || !value.startsWith("-") ? [`--${key}`, value] : [`--${key}=${value}`]].flat();
  });
}

// A task that writes a model beside its input.
function written(job, values, { model, names }, what) {
  const stem = model.replace(/\.(onnx|onnxtxt|onnxtext)$/i, "");
  let output = `${stem}.${what}.onnx`;
  for (let number = 2; names.includes(output); number += 1) output = `${stem}.${what}-${number}.onnx`;
  return [job, model, ...optionsOf(job, values), "-o", output, "--report", REPORT];
}

// A command line for a shell.
const shellText = (args) => ["recast", ...args].map((arg) => (/^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", "'\\''")}'`)).join(" ");
