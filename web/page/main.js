// The page: what is chosen, and runs of the command.

const [opened, task, outcome, result] = ["open", "task", "outcome", "page"].map((id) => document.getElementById(id));
const chosen = { job: "look", model: null, values: Object.fromEntries(Object.keys(JOBS).map((job) => [job, {}])) };
let running = null;
let view = new AbortController();

// Does some work with the command, and shows how long it has taken. The work returns nothing if it was cancelled.
async function run(work) {
  running = new AbortController();
  update();
  const status = document.getElementById("status");
  const begin = performance.now();
  const seconds = () => `${((performance.now() - begin) / 1000).toFixed(1)} s`;
  status.textContent = "Running …";
  const clock = setInterval(() => { status.textContent = [`Running, ${seconds()}`, doing].filter(Boolean).join(": "); }, 500);
  try {
    const results = await work(running.signal);
    const done = results?.some(({ code }) => code === 2) ? "Failed" : "Done";
    status.textContent = results ? `${done} after ${seconds()}.` : "Cancelled.";
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
  endWorker();
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
  await run(async (signal) => {
    const results = await runCommand([{ args, files: [...filesForRun(), ...more] }], signal);
    if (results) await showResult(results[0]);
    return results;
  });
}

window.addEventListener("hashchange", () => {
  running?.abort();
  restore();
  drawTask();
  clearResult();
});
restore();
acceptDrops();
drawFiles();
drawTask();
