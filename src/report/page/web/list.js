// A list that has elements only for the rows in view.

// Each of the two texts of a row is one line; on a narrow page, at most three and four.
const isNarrow = window.matchMedia("(max-width: 820px)");
const mostLines = () => (isNarrow.matches ? [3, 4] : [1, 1]);
const heightOf = (lines) => 10 + 19 * (lines[0] + lines[1]);
// The width of a character is at most this many pixels.
const CHARACTER = 8;
// A browser's longest element is about this high; later rows are found by searching.
const mostRows = () => Math.floor(7_600_000 / heightOf(mostLines()));

// `draw` makes the two elements of a row; `lengthsOf` counts the characters of their texts; `choose` is called with the item that is chosen,
// or with nothing; `signal` ends the list.
function virtualList(label, draw, lengthsOf, choose, signal) {
  const all = el("div", { class: "all" });
  const list = el("div", { class: "list", role: "listbox", tabindex: "0", "aria-label": label, id: "list" }, all);
  let items = [];
  let chosen = -1;
  // The top of each row, and the end of the last one.
  let tops = [0];
  const count = () => Math.min(items.length, mostRows());

  function layOut() {
    const inLine = Math.max(1, Math.floor((list.clientWidth - 24) / CHARACTER));
    const most = mostLines();
    tops = [0];
    for (const item of items.slice(0, count())) {
      const lines = lengthsOf(item).map((length, text) => Math.min(most[text], Math.ceil(length / inLine) || 1));
      tops.push(tops.at(-1) + heightOf(lines));
    }
    all.style.height = `${tops.at(-1)}px`;
    render();
  }

  // The row at this height.
  function rowAt(height) {
    let [low, high] = [0, count()];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (tops[middle] <= height) low = middle;
      else high = middle;
    }
    return low;
  }

  function render() {
    const first = Math.max(0, rowAt(list.scrollTop) - 4);
    const last = Math.min(count(), rowAt(list.scrollTop + list.clientHeight) + 5);
    const rows = [];
    for (let index = first; index < last; index += 1) {
      const attributes = {
        class: "row", role: "option", id: `row-${index}`, style: `top:${tops[index]}px;height:${tops[index + 1] - tops[index]}px`,
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
    const [top, bottom] = [tops[chosen], tops[chosen + 1]];
    if (top < list.scrollTop) list.scrollTop = top;
    else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
    render();
    choose(items[chosen]);
  }

  const keys = {
    ArrowDown: () => chosen + 1,
    ArrowUp: () => chosen - 1,
    PageDown: () => rowAt(tops[chosen] + list.clientHeight),
    PageUp: () => rowAt(tops[chosen] - list.clientHeight),
    Home: () => 0,
    End: () => count() - 1,
  };
  list.addEventListener("keydown", (event) => {
    if (!(event.key in keys) || !items.length) return;
    event.preventDefault();
    select(keys[event.key]());
  });
  list.addEventListener("scroll", render, { passive: true });
  window.addEventListener("resize", layOut, { signal });

  return {
    element: list,
    show(next) {
      items = next;
      chosen = items.length ? 0 : -1;
      list.scrollTop = 0;
      layOut();
      choose(items[0]);
    },
  };
}
