// The tasks: their tabs and options, the command line, and the address, which restores them.

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

function drawField({ key, label, value: usual, choices, other, placeholder, excludes = [] }) {
  const values = chosen.values[chosen.job];
  const value = key === "other" ? otherModel() : values[key] ?? usual;
  const set = (next) => {
    values[key] = next;
    const excluded = next === usual ? [] : excludes.filter((one) => values[one]);
    for (const one of excluded) delete values[one];
    if (excluded.length) drawTask();
    else update();
  };
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
  const option = ([choice, words]) => (typeof words === "string" ? el("option", { value: choice }, words) : el("optgroup", { label: choice }, Object.entries(words).map(option)));
  const select = el("select", { id, on: { change: () => { set(select.value === "…" ? "" : select.value); if (other) drawTask(); } } },
    Object.entries(choices).sort(([a], [b]) => (key === "opset" ? b - a || 0 : 0)).map(option),
    other ? el("option", { value: "…" }, other) : null);
  select.value = isOther ? "…" : value;
  if (!isOther) return el("label", {}, label, select);
  const input = text({ id: `${id}-other`, "aria-label": `${label}: ${other}` });
  input.value = value;
  return el("div", {}, el("label", {}, label, select), input);
}

function choose(job) {
  if (job === chosen.job) return;
  running?.abort();
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
  const isReady = isCast ? (chosen.values.cast.number ?? "").trim() !== "" : chosen.model !== null && (chosen.job !== "diff" || otherModel() !== "");
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

// The model that the chosen one is compared with: by default, another open one.
function otherModel() {
  const others = models().filter((model) => model !== chosen.model);
  const { other } = chosen.values.diff;
  return others.includes(other) ? other : others[0] ?? "";
}

const argumentsOf = (job) => JOBS[job].args(chosen.values[job], { model: chosen.model, other: otherModel(), names: [...files.keys()] });

async function copyCommand() {
  const status = document.getElementById("status");
  try {
    await navigator.clipboard.writeText(shellText(argumentsOf(chosen.job)));
    status.textContent = "Copied.";
  } catch {
    status.textContent = "The browser does not let this page copy; select the text.";
  }
}
