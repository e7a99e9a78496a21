// The library in WebAssembly (web/wasm/browser.c): questions and answers as text.
import { ApiError } from '../src/api_error.js';

const wasiOk = 0;
const wasiMissing = 52; // ENOSYS

/** The few things that the C library asks of a system: a clock, random bytes, and where an assertion is printed. */
function system(memory) {
  const view = () => new DataView(memory().buffer);
  return {
    clock_time_get(id, precision, to) {
      view().setBigUint64(to, BigInt(Math.round(performance.now() * 1e6)), true);
      return wasiOk;
    },
    random_get(to, size) {
      crypto.getRandomValues(new Uint8Array(memory().buffer, to, size));
      return wasiOk;
    },
    environ_sizes_get(count, size) {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return wasiOk;
    },
    environ_get: () => wasiOk,
    fd_write(file, pieces, count, written) {
      let size = 0;
      for (let i = 0; i < count; i += 1) {
        const at = view().getUint32(pieces + 8 * i, true);
        const length = view().getUint32(pieces + 8 * i + 4, true);
        console.error(new TextDecoder().decode(new Uint8Array(memory().buffer, at, length)));
        size += length;
      }
      view().setUint32(written, size, true);
      return wasiOk;
    },
    fd_close: () => wasiMissing,
    fd_seek: () => wasiMissing,
    proc_exit() {
      throw new Error('the library ended');
    },
  };
}

const statusNotFound = 60; // PARSREC_E_NOT_FOUND

/** The library on these bytes of WebAssembly: { open(bytes), ask(call, text, ...numbers) }. */
export async function library(code) {
  let memory = null;
  const { instance } = await WebAssembly.instantiate(code, { wasi_snapshot_preview1: system(() => memory) });
  const c = instance.exports;
  memory = c.memory;
  c._initialize();
  let broken = null;

  /** Calls `name` with the bytes written where C finds them; its answer. */
  function call(name, bytes, numbers = []) {
    if (broken) throw broken;
    try {
      const to = c.browser_take(bytes.length);
      if (to === 0) throw new ApiError(507, 'memory', 'The browser has no memory left for this.');
      new Uint8Array(memory.buffer, to, bytes.length).set(bytes);
      const status = c[name](...numbers);
      const text = new TextDecoder().decode(new Uint8Array(memory.buffer, c.browser_text(), c.browser_size()));
      if (status !== 0) throw new ApiError(status === statusNotFound ? 404 : 422, 'refused', text);
      return JSON.parse(text);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      broken = new ApiError(500, 'broken', `The library stopped (${error.message}). Load the page again.`);
      throw broken;
    }
  }
  const encoder = new TextEncoder();
  return {
    open: (bytes) => call('browser_open', bytes),
    ask: (name, text = '', ...numbers) => call(name, encoder.encode(text), numbers),
  };
}
