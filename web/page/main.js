// The page: the files, the tasks and their options, the command line, and the result.

const files = new Map();
const [opened, task, outcome, result] = ["open", "task", "outcome", "page"].map((id) => document.getElementById(id));
const chosen = { job: "look", model: null, values: Object.fromEntries(Object.keys(JOBS).map((job) => [job, {}])) };
let running = null;
let view = new AbortController();

// The file of the findings that a run leaves alone.
const BASELINE = "baseline.json";

// Files

const isModel = (name) => /\.(onnx|onnxtxt|onnxtext|ort|pb)$/i.test(name);
const models = () => [...files.keys()].filter(isModel);

function add(list) {
  for (const file of list) files.set(file.name, file);
  const last = [...list].map((file) => file.name).filter(isModel).at(-1);
  if (last) chosen.model = last;
  chosen.model ??= list[0]?.name ?? null;
  drawFiles();
  drawTask();
  if (last && chosen.job !== "cast") start();
}

function remove(name) {
  files.delete(name);
  if (chosen.model === name) chosen.model = models().at(-1) ?? null;
  drawFiles();
  drawTask();
}

function drawFiles() {
  const input = el("input", { type: "file", multiple: "", id: "files", "aria-describedby": "about-files", on: { change: () => add(input.files) } });
  const list = [...files].map(([fileName, file]) => el("li", {}, name(fileName), el("span", { class: "faint" }, bytes(file.size)),
    el("button", { type: "button", class: "link", "aria-label": `Close ${fileName}`, on: { click: () => remove(fileName) } }, "Close")));
  const box = el("div", { class: "drop" },
    el("p", { id: "about-files" }, files.size ? "Drop more files here, or choose them." : "Drop a model here, or choose it; its data files together with it."),
    el("label", {}, el("span", { class: "faint" }, "Files "), input), files.size ? el("ul", {}, list) : null);
  opened.replaceChildren(box);
}

function acceptDrops() {
  const box = () => opened.querySelector(".drop");
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    box().classList.add("over");
  });
  document.addEventListener("dragleave", () => box().classList.remove("over"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    box().classList.remove("over");
    add(event.dataTransfer.files);
  });
}

// Tasks

function drawTask() {
  const tabs = Object.entries(JOBS).map(([job, { title }]) => el("button", {
    type: "button", role: "tab", id: `tab-${job}`, "aria-selected": job === chosen.job, "aria-controls": "options", tabindex: job === chosen.job ? "0" : "-1",
    on: { click: () => choose(job), keydown: moveTab },
  }, title));
  const job = JOBS[chosen.job];
  const fields = job.fields.map(drawField);
  if (chosen.job !== "cast" && models().length > 1) fields.unshift(drawModels());
  const form = el("form", { on: { submit: (event) => { event.preventDefault(); start(); } } },
    el("p", {}, job.hint), fields.length ? el("div", { class: "fields" }, fields) : null,
    el("div", { class: "command" }, el("code", { id: "command" }), el("button", { type: "button", id: "copy", on: { click: copyCommand } }, "Copy")),
    el("div", { class: "tools" }, el("button", { type: "submit", class: "main", id: "run" }, job.run),
      el("button", { type: "button", id: "cancel", on: { click: () => running?.abort() } }, "Cancel"),
      el("span", { role: "status", id: "status", class: "faint" })));
  task.replaceChildren(el("div", { role: "tablist", "aria-label": "Tasks" }, tabs),
    el("div", { id: "options", role: "tabpanel", "aria-labelledby": `tab-${chosen.job}` }, form));
  update();
}

function drawModels() {
  const select = el("select", { id: "field-model", on: { change: () => { chosen.model = select.value; update(); } } },
    models().map((model) => el("option", { value: model, selected: model === chosen.model ? "" : null }, model)));
  return el("label", {}, "Model", select);
}

function drawField({ key, label, value: usual, choices, other, placeholder }) {
  const value = chosen.values[chosen.job][key] ?? usual;
  const set = (next) => { chosen.values[chosen.job][key] = next; update(); };
  const id = `field-${key}`;
  if (usual === false) {
    const box = el("input", { type: "checkbox", id, on: { change: () => set(box.checked) } });
    box.checked = value;
    return el("label", { class: "check" }, box, label);
  }
  const text = (attributes) => {
    const input = el("input", { type: "text", id, placeholder, autocomplete: "off", spellcheck: "false", ...attributes, on: { input: () => set(input.value) } });
    return input;
  };
  if (!choices) {
    const input = text({});
    input.value = value;
    return el("label", {}, label, input);
  }
  if (key === "other") choices = Object.fromEntries([["", "choose a file"], ...models().filter((model) => model !== chosen.model).map((model) => [model, model])]);
  const isOther = other && !Object.hasOwn(choices, value);
  const select = el("select", { id, on: { change: () => { set(select.value === "…" ? "" : select.value); if (other) drawTask(); } } },
    Object.entries(choices).sort(([a], [b]) => (chosen.job === "convert" || chosen.job === "cast" ? b - a || 0 : 0)).map(([choice, words]) => el("option", { value: choice }, words)),
    other ? el("option", { value: "…" }, other) : null);
  select.value = isOther ? "…" : value;
  if (!isOther) return el("label", {}, label, select);
  const input = text({ id: `${id}-other`, "aria-label": `${label}: ${other}` });
  input.value = value;
  return el("div", {}, el("label", {}, label, select), input);
}

function choose(job) {
  if (job === chosen.job) return;
  chosen.job = job;
  drawTask();
  clearResult();
  if (job === "look" && chosen.model) start();
}

function moveTab(event) {
  const jobs = Object.keys(JOBS);
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  choose(jobs[(jobs.indexOf(chosen.job) + step + jobs.length) % jobs.length]);
  document.getElementById(`tab-${chosen.job}`).focus();
}

// The command line, the buttons, and the address, which restores the options.
function update() {
  const isCast = chosen.job === "cast";
  const isReady = isCast ? (chosen.values.cast.number ?? "").trim() !== "" : chosen.model !== null && (chosen.job !== "diff" || chosen.values.diff.other);
  const line = task.querySelector(".command");
  line.hidden = isCast || !isReady;
  if (isReady && !isCast) document.getElementById("command").textContent = shown(shellText(argumentsOf(chosen.job)));
  document.getElementById("run").disabled = !isReady || running !== null;
  document.getElementById("cancel").hidden = running === null;
  const stated = Object.entries(chosen.values[chosen.job]).filter(([key]) => key !== "other");
  history.replaceState(null, "", `#${new URLSearchParams([["task", chosen.job], ...stated])}`);
}

function restore() {
  const stated = new URLSearchParams(location.hash.slice(1));
  const job = stated.get("task");
  if (!job || !Object.hasOwn(JOBS, job)) return;
  chosen.job = job;
  chosen.values[job] = {};
  for (const { key, value: usual } of JOBS[job].fields) {
    if (stated.has(key) && key !== "other") chosen.values[job][key] = usual === false ? stated.get(key) === "true" : stated.get(key);
  }
}

const argumentsOf = (job) => JOBS[job].args(chosen.values[job], { model: chosen.model, names: [...files.keys()] });

async function copyCommand() {
  const status = document.getElementById("status");
  try {
    await navigator.clipboard.writeText(shellText(argumentsOf(chosen.job)));
    status.textContent = "Copied.";
  } catch {
    status.textContent = "The browser does not let this page copy; select the text.";
  }
}

// Runs

// Runs the command, and shows how long it has taken. Nothing is returned if it was cancelled.
async function run(runs) {
  running = new AbortController();
  update();
  const status = document.getElementById("status");
  const begin = performance.now();
  const seconds = () => `${((performance.now() - begin) / 1000).toFixed(1)} s`;
  status.textContent = "Running …";
  const clock = setInterval(() => { status.textContent = `Running, ${seconds()}`; }, 500);
  try {
    const results = await runCommand(runs, running.signal);
    status.textContent = results ? `Done in ${seconds()}.` : "Cancelled.";
    return results;
  } catch (failure) {
    status.textContent = "Failed.";
    outcome.replaceChildren(el("ul", { class: "errors" }, String(failure).split("\n").map((line) => el("li", {}, line))));
    return null;
  } finally {
    clearInterval(clock);
    running = null;
    update();
  }
}

function clearResult() {
  view.abort();
  view = new AbortController();
  outcome.replaceChildren();
  result.replaceChildren();
  document.title = "recast";
}

async function start() {
  if (document.getElementById("run").disabled) return;
  clearResult();
  if (chosen.job === "cast") return castNumber();
  await perform(argumentsOf(chosen.job));
}

const filesForRun = () => [...files].map(([fileName, file]) => ({ name: fileName, file }));

async function perform(args, more = []) {
  const results = await run([{ args, files: [...filesForRun(), ...more] }]);
  if (results) showResult(results[0]);
}

function showResult({ code, errors, written: all }) {
  const report = all.find(({ name: fileName }) => fileName === REPORT);
  const content = report && contentOf(new TextDecoder().decode(report.bytes));
  const others = all.filter((file) => file !== report);
  const said = errors.split("\n").filter((line) => line && !line.includes(`report written to ${REPORT}`));
  const isError = (line) => line.startsWith("recast: ") || line.startsWith("error: ");
  const failures = content?.errors.length ? [] : said.filter(isError);
  outcome.replaceChildren(...[
    others.length || report ? el("h2", {}, "Files") : null,
    others.length ? el("ul", {}, others.map((file) => el("li", {}, saveButton(file), " ", openButton(file), " ", el("span", { class: "faint" }, bytes(file.bytes.length))))) : null,
    report ? el("ul", {}, el("li", {}, saveButton(report), " ", el("span", { class: "faint" }, "this result as a page"))) : null,
    failures.length ? el("ul", { class: "errors" }, failures.map((line) => el("li", {}, line))) : null,
    el("p", { class: "faint", id: "code", "data-value": code }, `Exit code ${code}${said.some(isError) ? "" : said.map((line) => `; ${line}`).join("")}`),
  ].filter(Boolean));
  if (content) show(content, result, { signal: view.signal, actions: fixButtons });
}

// The document in a page that the command wrote.
function contentOf(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  return JSON.parse(page.getElementById("content").textContent);
}

function saveButton({ name: fileName, bytes: content }) {
  return el("button", { type: "button", class: "save", on: { click: () => save(fileName, content) } }, "Save ", name(fileName));
}

// Puts a file that a run wrote among the open ones, as the model of the next task.
function openButton({ name: fileName, bytes: content }) {
  return el("button", { type: "button", class: "open", on: { click: () => add([new File([content], fileName)]) } }, "Open it here");
}

function save(fileName, content) {
  const address = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
  // Not made by `el`, which escapes attributes: the name of the file is the browser's to check.
  const link = document.createElement("a");
  link.href = address;
  link.download = fileName.split("/").at(-1);
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

// Fixes

// The button of a finding that has a fix: all other findings are in a baseline, so that it alone is fixed.
function fixButtons(line) {
  if (chosen.job !== "lint" || line.kind !== "finding" || !line.fix) return null;
  const unsafe = line.fix.safety === "safe" ? [] : ["--unsafe-fixes"];
  const options = optionsOf("lint", { ...chosen.values.lint, fix: false, "unsafe-fixes": false });
  const all = () => fixWith([...options, "--select", line.code, "--fix", ...unsafe], []);
  return el("div", { class: "tools" },
    el("button", { type: "button", id: "fix-one", on: { click: () => fixOne(line, [...options, "--fix", ...unsafe]) } }, "Fix this"),
    el("button", { type: "button", id: "fix-rule", on: { click: all } }, `Fix all ${line.code}`));
}

function fixWith(options, more) {
  clearResult();
  return perform(["lint", chosen.model, ...options, "--report", REPORT], more);
}

async function fixOne(line, options) {
  const listing = ["lint", chosen.model, ...options.filter((option) => !option.endsWith("-fixes") && option !== "--fix"), "--exit-zero"];
  const results = await run([{ args: [...listing, "--baseline", BASELINE, "--write-baseline"], files: filesForRun() }]);
  const listed = results?.[0].written.find((file) => file.name === BASELINE);
  if (!listed) return;
  const baseline = JSON.parse(new TextDecoder().decode(listed.bytes));
  baseline.findings = baseline.findings.filter(({ code, place }) => code !== line.code || place !== line.place);
  const file = new TextEncoder().encode(JSON.stringify(baseline));
  await fixWith([...options, "--baseline", BASELINE], [{ name: BASELINE, file }]);
}

window.addEventListener("hashchange", () => {
  restore();
  drawTask();
  clearResult();
});
restore();
acceptDrops();
drawFiles();
drawTask();
