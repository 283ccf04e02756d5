// The open files: by the button, dropped, or written by a run.

const files = new Map();

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
  opened.replaceChildren(el("div", { class: "drop" },
    files.size ? el("ul", {}, list) : null,
    el("label", { class: "button" }, files.size ? "Choose more" : "Choose files", input),
    el("p", { id: "about-files", class: "faint" }, files.size ? "or drop them here" : "or drop a model here, together with its data files")));
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
