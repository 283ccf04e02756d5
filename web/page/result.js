// What a run printed and wrote.

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
