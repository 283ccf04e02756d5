// Runs the command on files, in a worker of its own: its memory is freed, and it can be ended at any time.
//
// A message is a list of runs, each with the arguments and the files of the command. The answer is the list of what they did.

self.onmessage = ({ data: { module, runs } }) => {
  try {
    wasm_bindgen.initSync({ module });
    const results = runs.map(done);
    self.postMessage({ results }, results.flatMap(({ written }) => written.map(({ bytes }) => bytes.buffer)));
  } catch (error) {
    self.postMessage({ failure: failureOf(error) });
  }
};

function done({ args, files }) {
  const run = new wasm_bindgen.Run();
  for (const { name, file } of files) run.insert(name, bytesOf(file));
  const code = run.run(args);
  const written = run.written.map((name, index) => ({ name, bytes: run.bytes(index) }));
  const result = { code, output: run.output, errors: run.errors, written };
  run.free();
  return result;
}

function bytesOf(file) {
  if (file instanceof Uint8Array) return file;
  try {
    return new Uint8Array(new FileReaderSync().readAsArrayBuffer(file));
  } catch (error) {
    throw `${file.name}: ${error.message}`;
  }
}

function failureOf(error) {
  if (typeof error === "string") return error;
  const panics = wasm_bindgen.panics();
  if (panics.length) return `${panics.join("\n")}; this is a bug, please report it`;
  return error instanceof WebAssembly.RuntimeError || error instanceof RangeError
    ? "the run needs more memory than the browser has; use the command" : String(error);
}
