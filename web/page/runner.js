// The module, and the worker that runs it.

const module = compiled(document.getElementById("module"));
// Bytes that are computed at a time.
const CHUNK = 3 << 20;
// The worker of the last runs, which computes parts of the files that they wrote, and what waits for its answers.
let worker = null;
const waiting = new Set();

async function compiled(element) {
  const text = atob(element.textContent.trim());
  element.remove();
  const packed = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(unpacked).arrayBuffer());
}

// Runs the command some times; `signal` ends the worker, and then nothing is returned. An error is thrown as a text. What the command is doing
// is in `doing`.
let doing = "";
async function runCommand(runs, signal) {
  const compiledModule = await module;
  if (signal.aborted) return null;
  endWorker();
  const address = URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
  worker = new Worker(address);
  const current = worker;
  worker.onmessage = ({ data: { phase, done, total } }) => { doing = total > 1 ? `${phase}, ${Math.floor((100 * Math.min(done, total)) / total)} %` : phase; };
  try {
    const cancelled = new Promise((resolve) => signal.addEventListener("abort", () => resolve(null)));
    const results = await Promise.race([answer(current, { module: compiledModule, runs }), cancelled]);
    if (!results) endWorker();
    return results?.map((result, run) => ({ ...result, written: result.written.map(({ name: fileName, parts }, file) => new Written(current, run, file, fileName, parts)) }));
  } catch (failure) {
    endWorker();
    throw failure;
  } finally {
    URL.revokeObjectURL(address);
  }
}

function endWorker() {
  worker?.terminate();
  worker = null;
  doing = "";
  for (const reject of waiting) reject("another run has begun");
}

// The answer of a worker to a message.
async function answer(to, message) {
  const { port1: port, port2 } = new MessageChannel();
  let stop;
  try {
    return await new Promise((resolve, reject) => {
      stop = reject;
      waiting.add(reject);
      if (to !== worker) reject("another run has begun");
      port.onmessage = ({ data }) => (data.failure === undefined ? resolve(data.answer) : reject(data.failure));
      to.onerror = (event) => {
        event.preventDefault();
        reject(event.message);
      };
      to.postMessage({ ...message, port: port2 }, [port2]);
    });
  } finally {
    waiting.delete(stop);
    port.close();
  }
}

// A file that a run wrote, as long as no other run has begun.
class Written {
  constructor(by, run, file, fileName, parts) {
    Object.assign(this, { by, run, file, name: fileName, parts, size: parts.reduce((size, { length }) => size + length, 0) });
  }

  // Its bytes in order: blobs of the given files, and what is computed, chunk by chunk.
  async *pieces() {
    for (const [part, { length, blob }] of this.parts.entries()) {
      if (blob) yield blob;
      for (let start = 0; !blob && start < length; start += CHUNK) {
        yield await answer(this.by, { run: this.run, file: this.file, part, start, length: Math.min(CHUNK, length - start) });
      }
    }
  }

  // The browser keeps the blob of a chunk where there is room.
  async blob() {
    const blobs = [];
    for await (const piece of this.pieces()) blobs.push(new Blob([piece]));
    return new Blob(blobs, { type: "application/octet-stream" });
  }
}
