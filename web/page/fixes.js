// The fixes of findings.

// The file of the findings that a run leaves alone.
const BASELINE = "baseline.json";

// The button of a finding that has a fix: all other findings are in a baseline, so that it alone is fixed.
function fixButtons(line) {
  if (chosen.job !== "lint" || line.kind !== "finding" || !line.fix) return null;
  const unsafe = line.fix.safety === "safe" ? [] : ["--unsafe-fixes"];
  const options = optionsOf("lint", { ...chosen.values.lint, fix: false, "unsafe-fixes": false });
  const all = () => fixWith([...options, "--select", line.code, "--fix", ...unsafe]);
  return el("div", { class: "tools" },
    el("button", { type: "button", id: "fix-one", on: { click: () => fixOne(line, [...options, "--fix", ...unsafe]) } }, "Fix this"),
    el("button", { type: "button", id: "fix-rule", on: { click: all } }, `Fix all ${line.code}`));
}

function fixWith(options, more = []) {
  clearResult();
  return perform(["lint", chosen.model, ...options, "--report", REPORT], more);
}

async function fixOne(line, options) {
  const listing = ["lint", chosen.model, ...options.filter((option) => !option.endsWith("-fixes") && option !== "--fix"), "--exit-zero"];
  const listed = await run((signal) => runCommand([{ args: [...listing, "--baseline", BASELINE, "--write-baseline"], files: filesForRun() }], signal));
  const known = listed?.[0].written.find((file) => file.name === BASELINE);
  if (!known) return;
  const baseline = JSON.parse(await (await known.blob()).text());
  baseline.findings = baseline.findings.filter(({ code, place }) => code !== line.code || place !== line.place);
  const file = new Blob([JSON.stringify(baseline)]);
  await fixWith([...options, "--baseline", BASELINE], [{ name: BASELINE, file }]);
}
