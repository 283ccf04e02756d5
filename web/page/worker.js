// Runs the command on files, in a worker of its own, which can be ended at any time, and frees its memory then.
//
// The first message has the module and a list of runs, each with the arguments and the files of the command. The answer is the list of what
// they did: of a file that a run wrote, the parts, each with a blob if it is a part of a given file. Other parts are computed when a further
// message asks for them.

// Bytes that are read at a time.
const WINDOW = 4 << 20;

const finished = [];
// Milliseconds between two messages about progress, and the time of the last one.
const PAUSE = 100;
let told = 0;

self.recastProgress = (phase, done, total) => {
  if (performance.now() - told < PAUSE) return;
  told = performance.now();
  self.postMessage({ phase, done, total });
};

self.onmessage = ({ data }) => {
  try {
    if (data.runs) data.port.postMessage({ answer: begin(data) });
    else send(data.port, finished[data.run].read(data.file, data.part, data.start, data.length));
  } catch (error) {
    data.port.postMessage({ failure: failureOf(wasm_bindgen, error, "the browser") });
  }
};

// Bytes are moved, not copied.
const send = (port, bytes) => port.postMessage({ answer: bytes }, [bytes.buffer]);

function begin({ module, runs }) {
  wasm_bindgen.initSync({ module });
  return runs.map(done);
}

function done({ args, files }) {
  const sources = files.map(({ name, file }) => ({ name, source: new Source(file) }));
  const { run, written, ...result } = runOn(wasm_bindgen, args, sources);
  finished.push(run);
  return { ...result, written: written.map(({ name, parts }) => ({ name, parts: parts.map((part) => partOf(part, files)) })) };
}

function partOf({ length, file, offset }, files) {
  return { length, blob: file === undefined ? null : files[file].file.slice(offset, offset + length) };
}

// A blob that is read in ranges. Short ranges come from a window, which is read at once.
class Source {
  constructor(blob) {
    this.blob = blob;
    this.size = blob.size;
    this.start = this.end = 0;
  }

  read(offset, out) {
    if (out.length >= WINDOW) {
      for (let start = 0; start < out.length; start += WINDOW) out.set(this.bytes(offset + start, offset + Math.min(start + WINDOW, out.length)), start);
      return;
    }
    if (offset < this.start || offset + out.length > this.end) {
      [this.start, this.end] = [offset, Math.min(offset + WINDOW, this.size)];
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
