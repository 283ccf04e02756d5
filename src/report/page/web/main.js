// The page: what happened, the models, the groups, and the list with its filters.
//
// `signal` ends what listens to the keyboard and the window. `actions` returns the buttons for a line.

// What a place is, above the list of places.
const PLACES = "Nodes, values and fields by their paths: `graph/NODE`, `graph/NODE.BODY/NODE` in a body, `function/DOMAIN:NAME/NODE`.";

function show(content, page, { signal, actions = () => null } = {}) {
  const lines = linesOf(content);
  const groups = groupsOf(lines);
  const models = content.models;
  const runs = content.fold ?? content.convert ?? content.precision ?? [];
  const rules = new Map(content.rules.map((rule) => [rule.code, rule]));
  const passes = new Map(content.passes.map((pass) => [pass.name, pass.summary]));
  const meanings = new Map(content.codes.map((code) => [code.code, code.meaning]));
  const state = { model: models.length === 1 ? 0 : -1, group: null, kind: "", query: "" };

  const word = (kind) => KINDS[kind][0];
  const badge = (line) => el("span", { class: line.kind === "finding" && line.severity === "error" ? "bad" : KINDS[line.kind][1] }, line.word ?? word(line.kind));

  function title() {
    if (content.diff) return [name(content.diff.left), " and ", name(content.diff.right)];
    if (models.length !== 1) return plural(models.length, "model");
    const output = runs[0]?.output;
    return [name(models[0].path), output ? [" to ", name(output)] : null];
  }

  // The answer, and the counts of all kinds.
  function verdict() {
    const counts = new Map();
    for (const { kind } of lines) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const parts = Object.keys(KINDS).filter((kind) => counts.has(kind));
    const sentences = [...answerOf(content), ...runningOf(content)].filter(Boolean).join(" ");
    const answer = sentences ? el("p", { class: "answer" }, sentences) : null;
    // The answer about a comparison is the count.
    if (!parts.length || content.diff) return answer;
    return [answer, el("p", { class: "faint" }, parts.map((kind, index) => [index ? ", " : "",
      el("span", { "data-of": `count.${kind}`, "data-value": counts.get(kind) }, KINDS[kind][2](counts.get(kind)))]))];
  }

  // Each conversion that is refused: what was requested, and what works.
  function refusals() {
    const refused = (content.convert ?? []).filter(({ blockers }) => blockers.length);
    const rest = refused.length > 20 ? el("p", {}, `${plural(refused.length - 20, "model")} more cannot be converted.`) : null;
    return [refused.slice(0, 20).map((run) => {
      const [from, to] = [run.from["ai.onnx"], run.to["ai.onnx"]];
      const nearest = el("strong", { "data-of": `nearest.${run.path}`, "data-value": run.nearest_opset ?? 0 }, nearestOf(run));
      const what = `Cannot convert from opset ${from} to ${to}: ${plural(run.blockers.length, "unsupported node")}. `;
      return el("p", { class: models.length > 1 ? "" : "answer" }, models.length > 1 ? [name(run.path), ": "] : null, what, nearest);
    }), rest];
  }

  // What --verify has shown, of each model.
  function verifications() {
    const verified = runs.filter((run) => run.verified);
    return verified.slice(0, 20).map((run) => el("p", { class: "good" }, models.length > 1 ? [name(run.path), ": "] : null, "Verified ", verifiedOf(run.verified), "."));
  }

  function groupTable() {
    const shownGroups = groups.slice(0, 100);
    const rows = shownGroups.map((group) => {
      const button = el("button", { class: "link", type: "button", "aria-pressed": "false", on: { click: () => toggle(group) } }, group.name);
      group.button = button;
      return el("tr", {}, el("td", { class: KINDS[group.kind][1] }, word(group.kind)), el("td", {}, button),
        cell(group.count, `group.${group.kind}.${group.name}`), el("td", { class: "wide faint" }, group.isSame ? inline(group.why ?? "") : ""));
    });
    const rest = groups.length > 100 ? el("p", { class: "faint" }, `${plural(groups.length - 100, "group")} more; search in the list below`) : null;
    return section("Outcomes and reasons", table({ id: "groups" }, [["Outcome"], ["Group"], ["Places", "number"], ["Why"]], rows), rest);
  }

  function toggle(group) {
    state.group = state.group === group ? null : group;
    update();
    document.getElementById("places").scrollIntoView({ block: "start" });
    list.element.focus({ preventScroll: true });
  }

  function drawing(line) {
    const { drawings } = models.find(({ path }) => path === line.model) ?? models[0] ?? {};
    if (!drawings) return null;
    const found = positionOf(drawings, line);
    if (found !== undefined) return [el("h3", {}, "The graph around it"), drawingOf(drawings.list[found])];
    return drawings.left_out ? el("p", { class: "faint" }, `Not drawn: the page has drawings of the first ${plural(drawings.list.length, "place")} only.`) : null;
  }

  // The position of the drawing of a line. The path of a difference may be that of a value, or of a field of a node.
  function positionOf({ nodes, values }, { kind, place, isValue }) {
    const of = (places, path) => (Object.hasOwn(places, path) ? places[path] : undefined);
    if (kind === "constant") return of(values, place) ?? of(nodes, place.slice(0, Math.max(0, place.lastIndexOf("."))));
    if (kind === "removed" || kind === "removable") return of(values, place) ?? of(nodes, place);
    if (kind !== "difference") return of(isValue ? values : nodes, place);
    for (let path = place; path.includes("/"); path = path.slice(0, Math.max(0, path.lastIndexOf(".")))) {
      if (of(nodes, path) !== undefined) return of(nodes, path);
    }
    return of(values, place);
  }

  const detail = el("div", { class: "detail", "aria-live": "polite", id: "detail" });

  function describe(line) {
    if (!line) return detail.replaceChildren(el("p", { class: "faint" }, "No place matches."));
    const rule = rules.get(line.code);
    const fix = line.fix && `${line.fix.what} (${line.fix.safety === "safe" ? "safe: --fix" : "unsafe: --fix --unsafe-fixes"})`;
    detail.replaceChildren(...[
      el("h3", {}, badge(line), " ", placeOf(line.place)),
      el("p", {}, inline(line.what)),
      facts([
        ["Model", models.length > 1 && name(line.model)],
        ["Operator", line.op],
        ["Pass", line.pass && [name(line.pass), passes.has(line.pass) ? inline(`: ${passes.get(line.pass)}`) : ""]],
        ["Severity", line.severity],
        ["Node", line.text && name(line.text)],
        ["Fix", fix && inline(fix)],
        ["Code", !rule && line.code && [name(line.code), meanings.has(line.code) ? inline(`: ${meanings.get(line.code)}`) : ""]],
      ].filter(([, value]) => value)),
      drawing(line),
      actions(line),
      rule && el("div", { class: "rule" }, el("h3", {}, `${rule.code} ${rule.name}`), markdown(rule.documentation)),
    ].flat().filter(Boolean));
    focusable(page);
  }

  const drawRow = (line) => [
    el("div", { class: "place", title: line.place }, placeOf(line.place), models.length > 1 ? el("span", { class: "what" }, ` in ${fileOf(line.model)}`) : null),
    el("div", { class: "what" }, badge(line), " · ", inline(line.what)),
  ];

  const lengthsOf = (line) => [
    line.place.length + (models.length > 1 ? ` in ${fileOf(line.model)}`.length : 0),
    `${line.word ?? word(line.kind)} · ${line.what}`.length,
  ];

  const list = virtualList("Places", drawRow, lengthsOf, describe, signal);
  const search = el("input", { type: "search", placeholder: "Search names, operators, reasons", "aria-label": "Search; press / to get here", id: "search" });
  const kinds = el("select", { "aria-label": "Outcome" }, el("option", { value: "" }, "All outcomes"),
    Object.keys(KINDS).filter((kind) => groups.some((group) => group.kind === kind)).map((kind) => el("option", { value: kind }, word(kind))));
  const clear = el("button", { type: "button", on: { click: () => reset() } }, "Clear");
  const count = el("span", { class: "count faint", role: "status", id: "count" });

  // What a search looks through, made when it is first needed.
  const textOf = (line) => (line.all ??= `${line.place}\n${line.what}\n${line.code ?? ""}\n${line.op ?? ""}\n${line.group}`.toLowerCase());

  function update() {
    const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
    const model = models[state.model]?.path;
    const matches = (line) => (!state.group || line.in === state.group) && (!state.kind || line.kind === state.kind)
      && (model === undefined || line.model === model) && words.every((text) => textOf(line).includes(text));
    const found = lines.filter(matches);
    for (const group of groups) group.button?.setAttribute("aria-pressed", group === state.group);
    const limit = found.length > mostRows() ? `; the first ${number(mostRows())} are listed` : "";
    count.textContent = `${number(found.length)} of ${plural(lines.length, "place")}${state.group ? ` in ${shown(state.group.name)}` : ""}${limit}`;
    count.dataset.value = found.length;
    clear.hidden = !state.group && !state.kind && !state.query;
    list.show(found);
  }

  function reset() {
    Object.assign(state, { group: null, kind: "", query: "" });
    search.value = kinds.value = "";
    update();
  }

  // The sections about one model, or a table of all.
  const [inputs, sizes, about] = [el("div"), el("div"), el("div")];
  function describeModel() {
    const model = models[state.model];
    if (!model) {
      sizes.replaceChildren(modelTable());
      inputs.replaceChildren();
      about.replaceChildren();
      return focusable(page);
    }
    const run = runs.find(({ path }) => path === model.path) ?? lintOf(model.path);
    inputs.replaceChildren(section("Inputs and outputs", interfaceOf(model)));
    sizes.replaceChildren(section("Bytes by element type", bytesOf(model)));
    about.replaceChildren(
      ...(run?.tensors?.length ? [section("Constants", constantsOf(run))] : []),
      section("Model", headOf(model, run)),
      section("Runtimes that run the model", runtimesOf(model)),
      section("Operators", operatorsOf(model)));
    focusable(page);
  }

  // What a run of lint states about the files and initializers of a model.
  function lintOf(path) {
    const stated = ["frozen_initializers", "unused_files"].map((key) => [key, content.lint?.[key] ?? {}]);
    return Object.fromEntries(stated.filter(([, byPath]) => Object.hasOwn(byPath, path)).map(([key, byPath]) => [key, byPath[path]]));
  }

  function modelTable() {
    const perModel = new Map();
    for (const line of lines) perModel.set(line.model, (perModel.get(line.model) ?? 0) + 1);
    const isChanged = models.some(({ after }) => after);
    const rows = models.map((model, index) => el("tr", {},
      el("td", { class: "wide" }, el("button", { class: "link", type: "button", on: { click: () => chooseModel(index) } }, name(model.path))),
      cell(model.before.nodes, `models.${index}.before.nodes`, arrow(number(model.before.nodes), model.after && number(model.after.nodes))),
      cell(perModel.get(model.path) ?? 0, `places.${model.path}`),
      cell(model.before.tensors.bytes, `models.${index}.before.tensors.bytes`, bytes(model.before.tensors.bytes)),
      model.after ? cell(model.after.tensors.bytes, `models.${index}.after.tensors.bytes`, bytes(model.after.tensors.bytes))
        : isChanged ? el("td", { class: "number" }, "unchanged") : null));
    const heads = [["Model"], ["Nodes", "number"], ["Places", "number"], ["Tensors", "number"]];
    return section("Models", table({ id: "models" }, isChanged ? [...heads, ["After", "number"]] : heads, rows));
  }

  const picker = el("select", { "aria-label": "Model", on: { change: () => chooseModel(Number(picker.value)) } },
    el("option", { value: "-1" }, "All models"), models.map(({ path }, index) => el("option", { value: index }, path)));
  function chooseModel(index) {
    state.model = index;
    picker.value = index;
    describeModel();
    update();
  }

  window.addEventListener("resize", () => focusable(page), { signal });
  search.addEventListener("input", () => { state.query = search.value; update(); });
  kinds.addEventListener("change", () => { state.kind = kinds.value; update(); });
  const onKey = (event) => {
    const isField = ["INPUT", "SELECT"].includes(event.target.tagName);
    if (event.key === "/" && !isField && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && (event.target === search || event.target === list.element)) {
      reset();
    } else if (event.key === "ArrowDown" && event.target === search) {
      event.preventDefault();
      list.element.focus();
    }
  };
  document.addEventListener("keydown", onKey, { signal });

  const errors = content.errors.length
    ? el("ul", { class: "errors" }, content.errors.map(({ path, place, message }) => el("li", {}, [path, typeof place === "string" ? place : "", message].filter(Boolean).join(": "))))
    : null;
  page.append(...[
    el("header", {}, el("div", { class: "faint" }, `recast ${content.command}, version ${content.recast}`), el("h1", {}, title()), models.length > 1 ? [verdict(), refusals()] : [refusals(), verdict()], verifications(), errors),
    models.length > 1 ? el("div", { class: "tools" }, picker) : null,
    inputs,
    groups.length ? groupTable() : null,
    sizes,
    lines.length ? el("section", { id: "places" }, el("h2", {}, "Places"), el("p", { class: "faint" }, inline(PLACES)), el("div", { class: "tools" }, search, kinds, clear, count),
      el("div", { class: "split" }, list.element, detail)) : null,
    about,
  ].filter(Boolean));
  document.title = `${shown(models[0]?.path ?? "recast")} – recast ${content.command}`;
  describeModel();
  if (lines.length) update();
}

const embedded = document.getElementById("content");
if (embedded) show(JSON.parse(embedded.textContent), document.getElementById("page"));
