// The answer of the page: what the run found or did, in a sentence, and which runtimes run the model.

const listed = (parts) => parts.filter(Boolean).join(", ");

// The sentences about a run on one model or on several.
function answerOf(content) {
  const { fold, convert, precision, lint, diff, models } = content;
  if (diff) return differencesOf(diff);
  const parts = [];
  // A model that cannot be read or written has no run.
  if (convert?.length) parts.push(conversionsOf(convert));
  if (precision?.length) parts.push(precisionsOf(precision));
  if (fold?.length) parts.push(foldsOf(fold, models), redundantOf(fold));
  if (lint && models.length) parts.push(findingsOf(lint, models.length));
  return parts.filter(Boolean);
}

const sum = (runs, count) => runs.reduce((total, run) => total + count(run), 0);

// What passes removed, changed and computed, and the bytes before and after.
function foldsOf(runs, models) {
  const casts = sum(models, ({ before }) => before.casts.length);
  const folded = sum(runs, (run) => run.folded.length);
  const [computed, changed] = ["computed", "changes"].map((key) => sum(runs, (run) => run[key]?.length ?? 0));
  const isDone = runs.some(({ output }) => output !== null);
  const what = isDone ? `${number(folded)} folded` : `${number(folded)} can be folded`;
  const others = listed([computed && `${plural(computed, "other node")} computed`, changed && `${plural(changed, "node")} changed`]);
  if (!casts && !others) return "The model has no casts.";
  return `${listed([plural(casts, "cast"), what, others])}${sizesOf(runs)}.`;
}

// The casts that no pass of the run removes, though they change nothing.
function redundantOf(runs) {
  const casts = sum(runs, (run) => run.redundant_casts ?? 0);
  if (!casts) return "";
  return casts === 1 ? "1 cast changes nothing: the exact passes remove it." : `${number(casts)} casts change nothing: the exact passes remove them.`;
}

function sizesOf(runs) {
  const [before, after] = ["bytes_in", "bytes_out"].map((key) => sum(runs, (run) => run[key] ?? 0));
  return before && after && before !== after ? `: ${bytes(before)} → ${bytes(after)}` : "";
}

function conversionsOf(runs) {
  const refused = runs.filter(({ blockers }) => blockers.length);
  if (refused.length) return runs.length > 1 ? `${number(refused.length)} of ${plural(runs.length, "model")} cannot be converted.` : "";
  const [changed, expanded] = [sum(runs, (run) => changesBesideExpansions(run).length), sum(runs, ({ expansions }) => expansions.length)];
  const what = listed([changed && `${plural(changed, "node")} changed`, expanded && `${plural(expanded, "node")} replaced by several`]);
  const [{ from, to }] = runs;
  const step = runs.length === 1 ? `From opset ${from["ai.onnx"]} to ${to["ai.onnx"]}` : `${plural(runs.length, "model")} converted`;
  return `${step}: ${what || "no node had to change"}.`;
}

function precisionsOf(runs) {
  const [values, casts, kept] = [sum(runs, (run) => run.changed_values), sum(runs, (run) => run.casts_added.length), sum(runs, (run) => run.kept.length)];
  if (!values) return `No value becomes ${runs[0].to}.`;
  const added = casts ? `${plural(casts, "cast")} added` : "no cast added";
  return `${listed([`${plural(values, "value")} in ${runs[0].to}`, added, kept && `the types of ${plural(kept, "node")} kept`])}${sizesOf(runs)}.`;
}

function findingsOf({ findings, fixed = [] }, models) {
  if (!findings.length && !fixed.length) return "No findings.";
  const counts = SEVERITIES.map((severity) => [severity, findings.filter((one) => one.severity === severity).length]);
  const parts = counts.filter(([, count]) => count).map(([severity, count]) => (severity === "info" ? `${number(count)} of severity info` : plural(count, severity)));
  const inModels = models > 1 ? ` in ${number(new Set([...findings, ...fixed].map(({ path }) => path)).size)} of ${plural(models, "model")}` : "";
  return `${listed([...parts, fixed.length && `${number(fixed.length)} fixed`])}${inModels}.`;
}

function differencesOf({ differences }) {
  return [differences.length ? `${plural(differences.length, "difference")}.` : "The models do not differ."];
}

// The runtimes that run the model of a page, or both models of a comparison. A page for which nothing was written says what folding changes.
function runningOf({ convert, diff, fold, models }) {
  if (models.length !== 1) return [];
  const [{ before, after }] = models;
  if (diff) {
    const [first, second] = [before, after].map((summary) => runsOnOf(summary, "Both run"));
    if (first.join() === second.join()) return first;
    return [...runsOnOf(before, "The first runs"), ...runsOnOf(after, "The second runs")];
  }
  if (after && fold?.some(({ output }) => output === null)) {
    const [asItIs, folded] = [before, after].map((summary) => kernelsOf(summary).runs);
    const more = [...folded].filter(([runtime, versions]) => asItIs.get(runtime) !== versions);
    return [...runsOnOf(before, "Runs"), more.length ? `Folded, it also runs on ${withVersions(more)}.` : ""];
  }
  return runsOnOf(after ?? before, convert?.some(({ blockers }) => blockers.length) ? "As it is, the model runs" : "Runs");
}

// By runtime, the versions that run a model with their kernels, and those of which only opset and IR version are known.
function kernelsOf(summary) {
  const [runs, loads] = [new Map(), new Map()];
  for (const target of summary.targets) {
    if (!differsIn(summary, target)) (target.kernels ? runs : loads).set(target.runtime, versionsSince(target));
  }
  return { runs, loads };
}

// In sentences, of which `verb` begins the first one.
function runsOnOf(summary, verb) {
  const { runs, loads } = kernelsOf(summary);
  const others = [...loads].filter(([runtime]) => !runs.has(runtime));
  const differing = [...new Set(summary.differing.map(({ runtime }) => runtime))].filter((runtime) => !runs.has(runtime));
  return [
    runs.size ? `${verb} on ${withVersions(runs)}.` : "No runtime is known to run it.",
    others.length ? `By opset and IR version, also on ${withVersions(others)}.` : "",
    differing.length ? `${listed(differing)} ${differing.length === 1 ? "computes" : "compute"} something else.` : "",
  ].filter(Boolean);
}

const withVersions = (runtimes) => [...runtimes].map(([runtime, versions]) => `${runtime} ${versions}`).join(", ");
const versionsSince = (target) => {
  const { first, last, newest } = target;
  return (newest && first !== last ? `${first} or later` : range(first, last)) + untriedIn(target);
};
