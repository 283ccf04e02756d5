// Runs the command on files, in a worker of its own: its memory is freed, and it can be ended at any time.
//
// A message is a list of runs, each with the arguments and the files of the command. The answer is the list of what they did. The files that
// a run wrote are blobs: their parts that are parts of a given file are not read, and tensors are computed chunk by chunk.

// Bytes that are read at a time, and bytes that are computed at a time: a multiple of 384.
const READ = 4 << 20;
const CHUNK = 384 << 13;

self.onmessage = ({ data: { module, runs } }) => {
  try {
    wasm_bindgen.initSync({ module });
    self.postMessage({ results: runs.map(done) });
  } catch (error) {
    self.postMessage({ failure: failureOf(error) });
  }
};

function done({ args, files }) {
  const run = new wasm_bindgen.Run();
  for (const { name, file } of files) run.insert(name, new Source(file));
  const code = run.run(args);
  const written = run.written.map((name, index) => ({ name, file: blobOf(run, index, files) }));
  const result = { code, output: run.output, errors: run.errors, written };
  run.free();
  return result;
}

function blobOf(run, index, files) {
  const parts = run.parts(index).flatMap((part, number) => {
    const { length, file, offset } = part;
    part.free();
    if (file !== undefined) return [files[file].file.slice(offset, offset + length)];
    const chunks = [];
    // A blob of each chunk: the browser keeps blobs where there is room, also on the disk.
    for (let start = 0; start < length; start += CHUNK) chunks.push(new Blob([run.read(index, number, start, Math.min(CHUNK, length - start))]));
    return chunks;
  });
  return new Blob(parts);
}

// A blob that is read in ranges. Short ranges come from a window, which is read at once.
class Source {
  constructor(blob) {
    this.blob = blob;
    this.size = blob.size;
    this.start = this.end = 0;
  }

  read(offset, out) {
    if (out.length >= READ) {
      for (let start = 0; start < out.length; start += READ) {
        out.set(this.bytes(offset + start, Math.min(offset + start + READ, offset + out.length)), start);
      }
      return;
    }
    if (offset < this.start || offset + out.length > this.end) {
      [this.start, this.end] = [offset, Math.min(offset + READ, this.size)];
      this.window = this.bytes(this.start, this.end);
    }
    out.set(this.window.subarray(offset - this.start, offset - this.start + out.length));
  }

  bytes(start, end) {
    try {
      return new Uint8Array(new FileReaderSync().readAsArrayBuffer(this.blob.slice(start, end)));
    } catch (error) {
      throw error.message;
    }
  }
}

function failureOf(error) {
  if (typeof error === "string") return error;
  const panics = wasm_bindgen.panics();
  if (panics.length) return `${panics.join("\n")}; this is a bug, please report it`;
  return error instanceof WebAssembly.RuntimeError || error instanceof RangeError
    ? "the run needs more memory than the browser has; use the command" : String(error);
}
