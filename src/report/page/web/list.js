// A list that has elements only for the rows in view.

// The height of a row: on a narrow page, its two texts continue for three and four lines.
const isNarrow = window.matchMedia("(max-width: 820px)");
const rowHeight = () => (isNarrow.matches ? 144 : 48);
// A browser's longest element is about this high; later rows are found by searching.
const mostRows = () => Math.floor(7_600_000 / rowHeight());

// `draw` fills the element of a row; `choose` is called with the item that is chosen, or with nothing; `signal` ends the list.
function virtualList(label, draw, choose, signal) {
  const all = el("div", { class: "all" });
  const list = el("div", { class: "list", role: "listbox", tabindex: "0", "aria-label": label, id: "list" }, all);
  let items = [];
  let chosen = -1;
  const count = () => Math.min(items.length, mostRows());

  function render() {
    const ROW = rowHeight();
    all.style.height = `${count() * ROW}px`;
    const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 4);
    const last = Math.min(count(), first + Math.ceil(list.clientHeight / ROW) + 9);
    const rows = [];
    for (let index = first; index < last; index += 1) {
      const attributes = {
        class: "row", role: "option", id: `row-${index}`, style: `top:${index * ROW}px;height:${ROW}px`,
        "aria-selected": index === chosen, "aria-setsize": items.length, "aria-posinset": index + 1,
      };
      rows.push(el("div", { ...attributes, on: { click: () => select(index) } }, draw(items[index])));
    }
    all.replaceChildren(...rows);
    if (chosen >= first && chosen < last) list.setAttribute("aria-activedescendant", `row-${chosen}`);
    else list.removeAttribute("aria-activedescendant");
  }

  function select(index) {
    chosen = Math.max(0, Math.min(count() - 1, index));
    const [top, bottom] = [chosen * rowHeight(), (chosen + 1) * rowHeight()];
    if (top < list.scrollTop) list.scrollTop = top;
    else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
    render();
    choose(items[chosen]);
  }

  const keys = {
    ArrowDown: () => chosen + 1,
    ArrowUp: () => chosen - 1,
    PageDown: () => chosen + Math.floor(list.clientHeight / rowHeight()),
    PageUp: () => chosen - Math.floor(list.clientHeight / rowHeight()),
    Home: () => 0,
    End: () => count() - 1,
  };
  list.addEventListener("keydown", (event) => {
    if (!(event.key in keys) || !items.length) return;
    event.preventDefault();
    select(keys[event.key]());
  });
  list.addEventListener("scroll", render, { passive: true });
  window.addEventListener("resize", render, { signal });

  return {
    element: list,
    show(next) {
      items = next;
      chosen = items.length ? 0 : -1;
      list.scrollTop = 0;
      render();
      choose(items[0]);
    },
  };
}
