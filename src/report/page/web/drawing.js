// The graph around a place, from the coordinates in the JSON.

function drawingOf(drawing) {
  const [width, height] = drawing.size;
  const arrow = svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: "7", refY: "4", markerWidth: "8", markerHeight: "8", orient: "auto" },
    svg("path", { d: "M0 0 8 4 0 8z" }));
  const edges = drawing.edges.map(({ value, type, points }) =>
    svg("path", { d: curve(points), "marker-end": "url(#arrow)" }, svg("title", {}, type ? `${value}: ${type}` : value)));
  const vertices = drawing.vertices.map(({ kind, at: [x, y], size: [w, h], label, detail, name: title, hidden }) => {
    const round = kind === "input" || kind === "output" ? h / 2 : 3;
    const more = hidden ? svg("text", { class: "hidden", x: x + w - 4, y: y + h + 12 }, `+${number(hidden)}`) : null;
    return svg("g", { class: kind },
      svg("title", {}, hidden ? `${title}; ${plural(hidden, "neighbour")} not shown` : title),
      svg("rect", { x, y, width: w, height: h, rx: round }),
      svg("text", { x: x + w / 2, y: y + 18 }, label),
      detail ? svg("text", { class: "second", x: x + w / 2, y: y + 35 }, detail) : null,
      more);
  });
  const here = drawing.vertices[0];
  // A drawing that is a little too wide is made smaller; a wider one scrolls, so that it can be read.
  const style = `width:${width}px;max-width:100%;min-width:${Math.round(0.65 * width)}px;height:auto`;
  const picture = svg("svg", { style, viewBox: `0 0 ${width} ${height + 8}`, role: "img", "aria-label": `The graph around ${here.name}` },
    svg("defs", {}, arrow), edges, vertices);
  const box = el("div", { class: "drawing" }, picture);
  // The place itself is in view, wherever it is in the drawing.
  requestAnimationFrame(() => {
    const scale = picture.clientWidth / width;
    box.scrollLeft = scale * (here.at[0] + here.size[0] / 2) - box.clientWidth / 2;
    box.scrollTop = scale * (here.at[1] + here.size[1] / 2) - box.clientHeight / 2;
  });
  return box;
}

// A line through points, rounded at those between the first and the last.
function curve(points) {
  const [first, ...rest] = points;
  let path = `M${first[0]} ${first[1]}`;
  rest.forEach(([x, y], index) => {
    const next = rest[index + 1];
    if (!next) path += `L${x} ${y}`;
    else path += `Q${x} ${y} ${(x + next[0]) / 2} ${(y + next[1]) / 2}`;
  });
  return path;
}
