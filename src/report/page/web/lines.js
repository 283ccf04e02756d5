// The lines of the list, and their groups, from the documents of the run.

// The kinds of lines, in the order in which groups are listed: the word, and its colour.
const KINDS = {
  blocker: ["Blocker", "bad", (count) => plural(count, "blocker")],
  finding: ["Finding", "warn", (count) => plural(count, "finding")],
  warning: ["Warning", "warn", (count) => plural(count, "warning")],
  kept: ["Kept", "", (count) => `${number(count)} kept`],
  difference: ["Difference", "", (count) => plural(count, "difference")],
  folded: ["Folded", "good", (count) => `${number(count)} folded`],
  foldable: ["Foldable", "good", (count) => `${number(count)} foldable`],
  constant: ["Constant cast", "good", (count) => `${plural(count, "constant")} cast`],
  added: ["Added cast", "", (count) => `${plural(count, "cast")} added`],
  fixed: ["Fixed", "good", (count) => `${number(count)} fixed`],
  guarded: ["Guarded", "good", (count) => `${number(count)} guarded`],
  carried: ["Wider type", "good", (count) => `${plural(count, "value")} with a wider type`],
  expanded: ["Expanded", "good", (count) => `${number(count)} expanded`],
  changed: ["Changed", "good", (count) => `${number(count)} changed`],
  removed: ["Removed", "", (count) => `${number(count)} removed`],
  removable: ["Removable", "", (count) => `${number(count)} removable`],
};

const DIFFERENCES = {
  removed: "only in the first model",
  added: "only in the second model",
  changed: "in both models, with different values",
  reordered: "the same items in a different order",
  stored: "the same values, stored differently",
};

// The changes of a conversion, of which an expansion is one.
function changesBesideExpansions({ changes, expansions }) {
  const expanded = new Set(expansions.map(({ node }) => node));
  return changes.filter(({ node }) => !expanded.has(node));
}

// The lines of a run. `group` is what the group of a line is called, `why` what is said of the group as a whole.
function linesOf(content) {
  const lines = [];
  const rules = new Map(content.rules.map((rule) => [rule.code, rule]));
  const passes = new Map(content.passes.map((pass) => [pass.name, pass.summary]));
  const meanings = new Map(content.codes.map((code) => [code.code, code.meaning]));
  for (const model of content.fold ?? []) {
    const [folds, removes] = model.output === null ? ["foldable", "removable"] : ["folded", "removed"];
    for (const { pass, node, input, from, to, elements } of model.folded) {
      const what = `${input}: ${from} to ${to}, ${plural(elements, "element")}`;
      lines.push({ kind: folds, model: model.path, place: node, what, pass, group: `${from} to ${to}`, why: "cast of a constant" });
    }
    for (const { pass, node, op, type, elements } of model.computed ?? []) {
      const what = `${op} to ${type}, ${plural(elements, "element")}`;
      lines.push({ kind: folds, model: model.path, place: node, what, pass, op, group: op, why: "node whose inputs are constants" });
    }
    for (const { pass, node, op, what } of model.changes ?? []) {
      lines.push({ kind: "changed", model: model.path, place: node, what: `${op} ${what}`, pass, op, group: `${pass}: ${op}`, why: passes.get(pass) });
    }
    for (const { node, code, reason } of model.skipped) {
      lines.push({ kind: "kept", model: model.path, place: node, what: reason, code, group: code, why: meanings.get(code) });
    }
    for (const { path: place, pass, code, reason } of model.removals ?? []) {
      const line = { kind: removes, model: model.path, place, what: reason, pass, code };
      lines.push({ ...line, group: `${pass}: ${code}`, why: meanings.get(code) });
    }
  }
  for (const model of content.convert ?? []) {
    for (const { node, op, opset_step: [from, to], code, reason } of model.blockers) {
      const step = `opset ${from} to ${to}`;
      const group = `${op}, ${step}: ${code}`;
      lines.push({ kind: "blocker", model: model.path, place: node, what: `${op}, ${step}: ${reason}`, op, code, group, why: meanings.get(code) });
    }
    for (const { node, op, class: exactness, nodes, guarded_for: runtime } of model.expansions) {
      const how = exactness === "exact" ? "bit-exact" : "by ONNX's definition: a runtime's own kernel may differ in the last digits";
      const what = `${op} became ${plural(nodes, "node")}, ${how}`;
      const why = runtime ? `${runtime} computes something else for ${op} alone; ${how}` : how;
      lines.push({ kind: runtime ? "guarded" : "expanded", model: model.path, place: node, what, op, group: op, why });
    }
    for (const { value, from, to, bytes } of model.carried) {
      const what = `${from} became ${to}, which has all of its numbers; ${plural(bytes, "byte")} more`;
      lines.push({ kind: "carried", model: model.path, place: value, what, isValue: true, group: `${from} to ${to}`, why: "the older opset lacks the type" });
    }
    for (const [kind, list] of [["warning", model.warnings], ["changed", changesBesideExpansions(model)]]) {
      for (const { node, op, what } of list) lines.push({ kind, model: model.path, place: node, what: `${op}: ${what}`, op, group: op, why: what });
    }
  }
  for (const model of content.precision ?? []) {
    for (const { node, op, code, reason } of model.kept) {
      lines.push({ kind: "kept", model: model.path, place: node, what: `${op}: ${reason}`, op, code, group: code, why: meanings.get(code) });
    }
    for (const tensor of model.tensors) {
      const { tensor: place, elements, from, to } = tensor;
      const what = [`${from} to ${to}, ${plural(elements, "element")}`, ...lossesOf(tensor)].join(", ");
      lines.push({ kind: "constant", model: model.path, place, what, isValue: true, group: `${from} to ${to}`, why: "constant rounded as Cast rounds" });
    }
    for (const { domain, name, copy_of: of, calls } of model.functions_added) {
      const what = `copy of ${of} for ${plural(calls.length, "call")}`;
      lines.push({ kind: "added", model: model.path, place: `function/${domain}:${name}`, what, op: name, group: "function", why: "function that is called in both types" });
    }
    for (const { node, value, from, to } of model.casts_added) {
      lines.push({ kind: "added", model: model.path, place: node, what: `${value}: ${from} to ${to}`, op: "Cast", group: `${from} to ${to}`, why: "value that is used in both types" });
    }
    for (const { node, value, from, to } of model.emulation?.roundings ?? []) {
      const group = `rounded to ${to}`;
      lines.push({ kind: "added", model: model.path, place: node, what: `${value}: ${from}, ${group}`, op: model.emulation.function, group, why: "value that would have the type" });
    }
    for (const node of model.casts_removed) {
      const what = "its input has the type now, or its consumers need the type of its input";
      lines.push({ kind: "removed", model: model.path, place: node, what, op: "Cast", group: "Cast", why: what });
    }
  }
  for (const [kind, list] of [["finding", content.lint?.findings], ["fixed", content.lint?.fixed]]) {
    for (const found of list ?? []) {
      const { path, code, name: rule, severity, message, node, value, op, text, fix } = found;
      const group = `${code} ${rule}`;
      const place = node ?? value ?? "model";
      lines.push({ kind, model: path, place, what: `${code} ${message}`, op, code, group, why: `${severity}: ${rules.get(code)?.summary}`, isValue: value !== null, severity, text, fix });
    }
  }
  for (const { path, kind, left, right } of content.diff?.differences ?? []) {
    const what = left === null ? right : right === null ? left : `${left} → ${right}`;
    const word = kind[0].toUpperCase() + kind.slice(1);
    lines.push({ kind: "difference", word, model: content.diff.left, place: path, what, group: word, why: DIFFERENCES[kind] ?? "" });
  }
  return lines.sort((a, b) => rankOf(a) - rankOf(b));
}

// The order of lines and groups: by kind, findings by severity.
const SEVERITIES = ["error", "warning", "info"];
const rankOf = ({ kind, severity }) => Object.keys(KINDS).indexOf(kind) * SEVERITIES.length + Math.max(0, SEVERITIES.indexOf(severity));

// A magnitude of FLOAT, with its digits: large ones in scientific notation.
const magnitude = (value) => {
  const digits = Number(value.toPrecision(8));
  return digits < 1e6 ? String(digits) : digits.toExponential().replace("+", "");
};

// What the numbers of a constant lost.
function lossesOf({ overflowed, largest, bound, became_zero: zero, became_subnormal: subnormal, largest_relative_error: error }) {
  return [
    overflowed && `${number(overflowed)} beyond the range${largest === null ? "" : ` (up to ${magnitude(largest)})`}, now ${bound === null ? "infinite" : `±${magnitude(bound)}`}`,
    zero && `${number(zero)} became zero`,
    subnormal && `${number(subnormal)} became subnormal`,
    error && `largest relative error ${error.toExponential(1)}`,
  ].filter(Boolean);
}

// The groups of lines, the largest of each kind first. A line gets the number of its group.
function groupsOf(lines) {
  const groups = new Map();
  for (const line of lines) {
    const key = `${line.kind}\n${line.group}`;
    if (!groups.has(key)) groups.set(key, { kind: line.kind, severity: line.severity, name: line.group, why: line.why, count: 0, isSame: true });
    const group = groups.get(key);
    group.count += 1;
    group.isSame &&= group.why === line.why;
    line.in = group;
  }
  return [...groups.values()].sort((a, b) => rankOf(a) - rankOf(b) || b.count - a.count);
}
