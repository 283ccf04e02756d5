// The sections of the page about one model.

function facts(pairs) {
  const known = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "");
  return el("dl", {}, known.map(([term, value]) => [el("dt", {}, term), el("dd", {}, value)]));
}

const arrow = (before, after) => (after === undefined || after === before ? before : `${before} → ${after}`);
const opsetsOf = (summary) => Object.entries(summary.opsets).map(([domain, version]) => `${domain} ${version}`).join(", ") || "none stated";

// The opset that works in place of a requested one.
function nearestOf({ from, to, nearest_opset: nearest }) {
  const [before, wanted] = [from["ai.onnx"], to["ai.onnx"]];
  if (nearest === null) return `No opset between ${before} and ${wanted} works.`;
  return `The ${wanted < before ? "lowest" : "highest"} opset that works is ${nearest}.`;
}

function verifiedOf({ nodes, constants, elements }) {
  const computed = constants ? ` and ${plural(constants, "new constant")} of ${plural(elements, "element")}` : "";
  return `${plural(nodes, "node")}${computed}, against the input`;
}

// A type and a shape as ONNX text writes them; unknown dimensions have their names.
function typeText({ type, shape, dim_names: names }) {
  const dims = shape?.map((dim, axis) => dim ?? names?.[axis] ?? "?");
  return dims ? `${type ?? "?"}[${dims.join(",")}]` : type ?? "?";
}

function interfaceOf({ before, after }) {
  const rows = [];
  for (const [kind, list] of [["Input", "inputs"], ["Output", "outputs"]]) {
    const now = new Map((after?.[list] ?? []).map((value) => [value.name, typeText(value)]));
    for (const value of before[list]) {
      const type = typeText(value);
      const what = value.has_default ? `${kind}, optional` : kind;
      rows.push(el("tr", {}, el("td", {}, what), el("td", { class: "wrap" }, name(value.name)),
        el("td", { class: "wrap" }, name(after && !now.has(value.name) ? `${type} → none` : arrow(type, now.get(value.name))))));
    }
  }
  const rest = rows.length > 200 ? el("p", { class: "faint" }, `${number(rows.length - 200)} more`) : null;
  return rows.length ? [table({ class: "fit" }, [["Kind"], ["Name"], ["Type and shape"]], rows.slice(0, 200)), rest]
    : el("p", { class: "faint" }, "The model has neither inputs nor outputs.");
}

function headOf(model, run) {
  const { before, after } = model;
  const functions = (summary) => summary?.functions.length ?? 0;
  const files = [run?.data_file, ...(run?.copied_files ?? [])].filter(Boolean).map(({ path, bytes: length }) => `${path} (${bytes(length)})`);
  return facts([
    ["Produced by", before.producer],
    ["IR version", arrow(before.ir_version, after?.ir_version)],
    ["Opsets", arrow(opsetsOf(before), after && opsetsOf(after))],
    ["Requested opset", run?.to?.["ai.onnx"]],
    ["Changed values", run?.changed_values && `${number(run.changed_values)} to ${run.to}`],
    ["Later opset", run?.later_opset && `opset ${run.later_opset.opset} would admit ${plural(run.later_opset.nodes, "more node")} to ${run.to}`],
    ["Nearest opset", run?.blockers?.length ? nearestOf(run) : null],
    ["Verified", run?.verified && verifiedOf(run.verified)],
    ["Model file", arrow(bytes(before.file_bytes), after && bytes(after.file_bytes))],
    ["Nodes", arrow(number(before.nodes), after && number(after.nodes))],
    ["Casts", arrow(number(before.casts.length), after && number(after.casts.length))],
    ["Tensors", arrow(number(before.tensors.count), after && number(after.tensors.count))],
    ["Initializers", arrow(number(before.initializers.count), after && number(after.initializers.count))],
    ["Functions", functions(before) || functions(after) ? arrow(functions(before), after && functions(after)) : null],
    ["Data files", before.external_data.map((file) => el("div", {}, file))],
    ["New data files", files.join(", ")],
    ["Frozen initializers", run?.frozen_initializers && number(run.frozen_initializers.length)],
    ["Dropped metadata", run?.dropped_metadata && `${number(run.dropped_metadata.entries)} entries`],
    ["Unused data files", (run?.unused_files ?? []).map(({ path }) => path).join(", ")],
    ["Notes", (run?.notes ?? []).map((note) => el("div", {}, note))],
  ].filter(([, value]) => !(Array.isArray(value) && value.length === 0)));
}

// What each constant lost, the most first.
function constantsOf({ tensors }) {
  const counts = ["overflowed", "became_zero", "became_subnormal"];
  const total = (key) => tensors.reduce((sum, tensor) => sum + tensor[key], 0);
  const sorted = [...tensors].sort((a, b) => b.overflowed - a.overflowed || b.became_zero - a.became_zero || b.largest_relative_error - a.largest_relative_error);
  const rowOf = (tensor) => el("tr", {},
    el("td", { class: "wrap" }, name(tensor.tensor)), el("td", {}, `${tensor.from} → ${tensor.to}`),
    ["elements", ...counts].map((key) => cell(tensor[key], `tensors.${tensor.tensor}.${key}`)),
    el("td", { class: "number" }, tensor.largest === null ? "" : magnitude(tensor.largest)),
    el("td", { class: "number" }, tensor.bound === null ? "" : `±${magnitude(tensor.bound)}`),
    el("td", { class: "number" }, tensor.largest_relative_error ? tensor.largest_relative_error.toExponential(1) : "0"));
  const foot = el("tr", {}, el("td", {}, plural(tensors.length, "constant")), el("td"),
    ["elements", ...counts].map((key) => cell(total(key), `tensors.${key}`)), el("td"), el("td"), el("td"));
  const heads = [["Constant"], ["Type"], ["Elements", "number"], ["Beyond the range", "number"], ["Became zero", "number"],
    ["Became subnormal", "number"], ["Largest before", "number"], ["Bounded to", "number"], ["Largest relative error", "number"]];
  const [first, others] = [sorted.slice(0, 20), sorted.slice(20, 200)];
  const more = el("details", {}, el("summary", {}, `${plural(others.length, "constant")} more`), table({ class: "constants" }, heads, others.map(rowOf)));
  const rest = tensors.length > 200 ? el("p", { class: "faint" }, `${plural(tensors.length - 200, "constant")} more; search in the list above`) : null;
  return [table({ class: "constants" }, heads, first.map(rowOf), [foot]), others.length ? more : null, rest];
}

// The bytes of tensors by element type; before and after, if they differ.
function bytesOf({ before, after }) {
  const old = before.tensors.by_type;
  const of = (table, type) => table?.[type]?.bytes ?? 0;
  const types = [...new Set([...Object.keys(old), ...Object.keys(after?.tensors.by_type ?? {})])];
  const differs = after && types.some((type) => of(old, type) !== of(after.tensors.by_type, type));
  const now = differs ? after.tensors.by_type : undefined;
  const largest = Math.max(1, ...types.flatMap((type) => [of(old, type), of(now, type)]));
  types.sort((a, b) => Math.max(of(old, b), of(now, b)) - Math.max(of(old, a), of(now, a)));
  const bar = (count, style) => count === 0 ? el("div", { class: "bar none" }) : el("div", { class: `bar ${style}`, style: `width:${(100 * count) / largest}%` });
  const rows = types.map((type) => el("tr", {},
    el("td", {}, name(type)),
    cell(of(old, type), `before.tensors.by_type.${type}.bytes`, bytes(of(old, type))),
    now ? cell(of(now, type), `after.tensors.by_type.${type}.bytes`, bytes(of(now, type))) : null,
    el("td", { class: "bars", "aria-hidden": "true" }, bar(of(old, type), now ? "before" : ""), now ? bar(of(now, type), "") : null)));
  const foot = el("tr", {}, el("td", {}, "All tensors"),
    cell(before.tensors.bytes, "before.tensors.bytes", bytes(before.tensors.bytes)),
    now ? cell(after.tensors.bytes, "after.tensors.bytes", bytes(after.tensors.bytes)) : null, el("td"));
  const heads = now ? [["Type"], ["Before", "number"], ["After", "number"], [keys()]] : [["Type"], ["Bytes", "number"], ["Relative size"]];
  return types.length ? table({ id: "bytes" }, heads, rows, [foot]) : el("p", { class: "faint" }, "The model has no tensors.");
}

const keys = () => el("span", { class: "keys" }, el("span", {}, el("span", { class: "key before" }), "before"), el("span", {}, el("span", { class: "key" }), "after"));

// The runtimes that run the model, before and after if they differ; those of which only opset and IR version are known; and what the others lack.
function runtimesOf({ before, after }) {
  const [old, now] = [versionsOf(before), versionsOf(after)];
  const runtimes = [...new Set([...old.keys(), ...now.keys()])];
  const differs = after && runtimes.some((runtime) => old.get(runtime) !== now.get(runtime));
  if (!runtimes.length) return el("p", { class: "faint" }, "No runtime in the table of `recast targets` loads this opset and IR version.");
  const rows = runtimes.map((runtime) => el("tr", {}, el("td", {}, runtime), el("td", {}, old.get(runtime) ?? "none"),
    differs ? el("td", {}, now.get(runtime) ?? "none") : null));
  const heads = differs ? [["Runtime"], ["Before"], ["After"]] : [["Runtime"], ["Versions"]];
  return el("div", {}, table({ class: "fit" }, heads, rows), differingOf(after ?? before), lackingOf(after ?? before));
}

// By runtime, by runtime that computes something else, and by runtime where only opset and IR version are known: the versions.
function versionsOf(summary) {
  const versions = new Map();
  for (const target of summary?.targets ?? []) {
    const { runtime, first, last, kernels, newest } = target;
    const [differs, untried] = [differsIn(summary, target), untriedIn(target)];
    const open = `${first} or later${first === last ? "" : ` (known to ${last})`}`;
    const known = newest && kernels && !differs && !untried ? open : `${range(first, last)}${untried}`;
    const place = `${runtime}${kernels ? "" : " (by opset and IR version)"}${differs ? " (computes something else)" : ""}`;
    versions.set(place, [versions.get(place), known].filter(Boolean).join(", "));
  }
  return versions;
}

// Whether versions of a runtime compute something else for a node, and the nodes of which it is not known.
const differsIn = ({ differing = [] }, { runtime, first, kernels }) => kernels && differing.some((node) => node.runtime === runtime && node.first === first);
const untriedIn = ({ untried_nodes: untried }) => (untried ? ` (${plural(untried, "node")} uncertain)` : "");

const range = (first, last) => (first === last ? first : `${first} to ${last}`);

function differingOf({ differing = [] }) {
  if (!differing.length) return null;
  const rows = differing.slice(0, 200).map(({ runtime, first, last, node, operation, instead }) =>
    el("tr", {}, el("td", {}, name(node)), el("td", {}, `${operation} ${instead}`), el("td", {}, `${runtime} ${range(first, last)}`)));
  const rest = differing.length > 200 ? el("p", { class: "faint" }, `${plural(differing.length - 200, "node")} more`) : null;
  const heads = [["Node"], ["What the runtime computes"], ["Runtime"]];
  return el("details", {}, el("summary", {}, "Nodes of which a runtime computes something else"), table({ class: "fit" }, heads, rows), rest);
}

function lackingOf({ lacking = [] }) {
  if (!lacking.length) return null;
  const reasons = ({ newest_opset, newest_ir_version, operators }) => [
    newest_opset === null ? null : `opset ${newest_opset} is the newest`,
    newest_ir_version === null ? null : `IR ${newest_ir_version} is the newest`,
    ...(newest_opset === null && newest_ir_version === null ? operators.map((operator) => `no kernel for ${operator}`) : []),
  ].filter(Boolean).join("; ");
  const rows = lacking.map((versions) => el("tr", {}, el("td", {}, `${versions.runtime} ${range(versions.first, versions.last)}`), el("td", {}, reasons(versions))));
  return el("details", {}, el("summary", {}, "Versions that do not run the model"), table({ class: "fit" }, [["Runtime"], ["Reason"]], rows));
}

function operatorsOf({ before, after }) {
  const ops = [...new Set([...Object.keys(before.ops), ...Object.keys(after?.ops ?? {})])];
  const most = (op) => Math.max(before.ops[op] ?? 0, after?.ops[op] ?? 0);
  ops.sort((a, b) => most(b) - most(a) || (a < b ? -1 : 1));
  const rows = ops.slice(0, 200).map((op) => el("tr", {}, el("td", {}, name(op)), cell(before.ops[op] ?? 0, `before.ops.${op}`),
    after ? cell(after.ops[op] ?? 0, `after.ops.${op}`) : null));
  const heads = after ? [["Operator"], ["Before", "number"], ["After", "number"]] : [["Operator"], ["Nodes", "number"]];
  const rest = ops.length > 200 ? el("p", { class: "faint" }, `${plural(ops.length - 200, "operator")} more`) : null;
  return el("details", {}, el("summary", {}, plural(ops.length, "operator")), table({ class: "fit" }, heads, rows), rest);
}
