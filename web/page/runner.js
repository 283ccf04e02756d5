// The module, and the worker that runs it.

const module = compiled(document.getElementById("module"));

async function compiled(element) {
  const text = atob(element.textContent.trim());
  element.remove();
  const packed = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(unpacked).arrayBuffer());
}

// Runs the command some times; `signal` ends the worker, and then nothing is returned. An error is thrown as a text.
async function runCommand(runs, signal) {
  const compiledModule = await module;
  if (signal.aborted) return null;
  const address = URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
  const worker = new Worker(address);
  try {
    return await new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => resolve(null));
      worker.onmessage = ({ data }) => (data.failure === undefined ? resolve(data.results) : reject(data.failure));
      worker.onerror = (event) => {
        event.preventDefault();
        reject(event.message);
      };
      worker.postMessage({ module: compiledModule, runs });
    });
  } finally {
    worker.terminate();
    URL.revokeObjectURL(address);
  }
}
