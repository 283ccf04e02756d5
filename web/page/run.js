// One run of the command in the WebAssembly module. The worker of the page and the npm package share this file.

// Runs the command on files, each with a name and a source: its size, and a method that reads a range of it. The parts of a written file are
// read from the run.
function runOn(bindings, args, files) {
  const run = new bindings.Run();
  for (const { name, source } of files) run.insert(name, source);
  const code = run.run(args);
  const written = run.written.map((name, index) => ({ name, parts: run.parts(index) }));
  return { run, code, output: run.output, errors: run.errors, written };
}

// Why a run has no result; `place` is what ran out of memory.
function failureOf(bindings, error, place) {
  if (typeof error === "string") return error;
  const panics = bindings.panics();
  if (panics.length) return `${panics.join("\n")}; this is a bug, please report it`;
  return error instanceof WebAssembly.RuntimeError || error instanceof RangeError
    ? `the run needs more memory than ${place} has; use the command` : String(error);
}
