// The open files by path: by the button, dropped, alone or in folders, or written by a run.

const files = new Map();

const isModel = (name) => /\.(onnx|onnxtxt|onnxtext|ort|pb)$/i.test(name);
const models = () => [...files.keys()].filter(isModel);

const named = (list) => [...list].map((file) => [file.name, file]);

// Opens files, given with their paths. The last model is the one of the task; if none has the name of a model, the command says what the first
// one is.
function add(list) {
  for (const [path, file] of list) files.set(path, file);
  const last = list.map(([path]) => path).filter(isModel).at(-1);
  if (last) chosen.model = last;
  chosen.model ??= list[0]?.[0] ?? null;
  drawFiles();
  drawTask();
  if (chosen.job !== "cast") start();
}

const addExample = () => add([[EXAMPLE.name, new File([Uint8Array.from(atob(EXAMPLE.bytes), (character) => character.charCodeAt(0))], EXAMPLE.name)]]);

function remove(name) {
  files.delete(name);
  if (chosen.model === name) chosen.model = models().at(-1) ?? null;
  drawFiles();
  drawTask();
}

function drawFiles() {
  const input = el("input", { type: "file", multiple: "", id: "files", "aria-describedby": "about-files", on: { change: () => add(named(input.files)) } });
  const list = [...files].map(([fileName, file]) => el("li", {}, name(fileName), el("span", { class: "faint" }, bytes(file.size)),
    el("button", { type: "button", class: "link", "aria-label": `Close ${fileName}`, on: { click: () => remove(fileName) } }, "Close")));
  opened.replaceChildren(el("div", { class: "drop" },
    files.size ? el("ul", {}, list) : null,
    el("label", { class: "button" }, files.size ? "Choose more" : "Choose files", input),
    files.size ? null : el("button", { type: "button", id: "example", on: { click: addExample } }, "Try an example"),
    el("p", { id: "about-files", class: "faint" }, files.size ? "or drop them here" : "or drop a model here, together with its data files, or the folder that they are in")));
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
    tell(dropped(event.dataTransfer).then(add));
  });
}

// The dropped files with their paths: those of a folder begin with its name.
async function dropped({ items, files: list }) {
  const entries = [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return named(list);
  return (await Promise.all(entries.map((entry) => filesBelow(entry, "")))).flat();
}

async function filesBelow(entry, folder) {
  const path = folder + entry.name;
  if (!entry.isDirectory) return [[path, await new Promise((resolve, reject) => entry.file(resolve, reject))]];
  const reader = entry.createReader();
  const found = [];
  // A reader gives its entries in parts; the last one is empty.
  for (let part; !part || part.length;) {
    part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    found.push(...part);
  }
  return (await Promise.all(found.map((each) => filesBelow(each, `${path}/`)))).flat();
}
