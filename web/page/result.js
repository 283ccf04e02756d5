// What a run printed and wrote.

async function showResult({ code, errors, written: all }) {
  const { signal } = view;
  const report = all.find(({ name: fileName }) => fileName === REPORT);
  const content = report && contentOf(await (await report.blob()).text());
  if (signal.aborted) return;
  const others = all.filter((file) => file !== report);
  const said = errors.split("\n").filter((line) => line && !line.includes(`report written to ${REPORT}`));
  const firstError = said.findIndex((line) => /^(recast|error): /.test(line));
  const failures = content?.errors.length || firstError < 0 ? [] : said.slice(firstError).filter((line) => !/^(Usage: |For more information)/.test(line));
  outcome.replaceChildren(...[
    others.length || report ? el("h2", {}, "Files") : null,
    others.length ? el("ul", {}, others.map((file) => el("li", {}, saveButton(file), " ", openButton(file), " ", el("span", { class: "faint" }, bytes(file.size))))) : null,
    report ? el("ul", {}, el("li", {}, saveButton(report), " ", el("span", { class: "faint" }, "this result as a page"))) : null,
    failures.length ? el("ul", { class: "errors" }, failures.map((line) => el("li", {}, line))) : null,
    isDataMissing(errors) ? el("p", { id: "missing" }, "The model has its values in data files. Drop them here, too, or drop the folder with all of them.") : null,
    ...(firstError < 0 ? said.map((line) => el("p", {}, line)) : []),
    el("p", { class: "faint", id: "code", "data-value": code }, exitOf(code)),
  ].filter(Boolean));
  if (content) show(content, result, { signal, actions: fixButtons });
}

const isDataMissing = (errors) => /: data file '.*': does not exist/.test(errors);

// What the exit code tells a script that runs the same command.
function exitOf(code) {
  if (code === 0) return "As a command, this succeeds (exit code 0).";
  const why = code === 1 ? JOBS[chosen.job].refusal : "an error";
  return `As a command, this fails (exit code ${code}: ${why}).`;
}

// The document in a page that the command wrote.
function contentOf(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  return JSON.parse(page.getElementById("content").textContent);
}

function saveButton(file) {
  return el("button", { type: "button", class: "save", on: { click: () => tell(save(file)) } }, "Save ", name(file.name));
}

// Shows why something failed.
async function tell(work) {
  try {
    await work;
  } catch (failure) {
    document.getElementById("status").textContent = `Failed: ${failure.message ?? failure}.`;
  }
}

// Puts a file that a run wrote among the open ones, as the model of the next task.
function openButton(file) {
  const open = async () => add([[file.name, new File([await file.blob()], file.name)]]);
  return el("button", { type: "button", class: "open", on: { click: () => tell(open()) } }, "Use it as the model");
}

// A file as large as this is written to the place that the user chooses, without a copy of it, where the browser can do that.
const LARGE = 64 << 20;

async function save(file) {
  if (file.size >= LARGE && window.showSaveFilePicker) {
    const place = await chosenPlace(file.name);
    if (place !== undefined) return place && write(file, await place.createWritable());
  }
  const address = URL.createObjectURL(await file.blob());
  // Not made by `el`, which escapes attributes: the name of the file is the browser's to check.
  const link = document.createElement("a");
  link.href = address;
  link.download = file.name.split("/").at(-1);
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

// Writes a file piece by piece: parts of given files are copied by the browser.
async function write(file, target) {
  const status = document.getElementById("status");
  let size = 0;
  try {
    for await (const piece of file.pieces()) {
      status.textContent = `Saving, ${Math.floor((100 * size) / file.size)} %`;
      await target.write(piece);
      size += piece.size ?? piece.byteLength;
    }
    await target.close();
    status.textContent = "Saved.";
  } catch (failure) {
    await target.abort().catch(() => {});
    throw failure;
  }
}

// The file that the user chooses; null if none, undefined if the browser does not let this page ask.
async function chosenPlace(fileName) {
  try {
    return await window.showSaveFilePicker({ suggestedName: fileName.split("/").at(-1) });
  } catch (error) {
    return error.name === "AbortError" ? null : undefined;
  }
}
