// Loads everything, seals the page, and talks to the worker.

import { hasSimd } from "../brr.js";

const FORBID_ALL = "default-src 'none'; script-src 'wasm-unsafe-eval'; worker-src blob:; img-src data:; "
  + "base-uri 'none'; form-action 'none'";

// A model that lies beside the page, by its name in the address: `?model=french.brr`.
function beside() {
  const name = new URLSearchParams(location.search).get("model");
  return name !== null && /^[\w-]+(\.[\w-]+)*\.brr$/.test(name) ? name : undefined;
}

async function get(name) {
  const response = await fetch(name);
  if (!response.ok) throw new Error(`cannot load ${name}: status ${response.status}`);
  return response;
}

// A policy can only be added to, never taken back. From here on the browser
// refuses every request of this page and of workers that it starts.
function seal() {
  const meta = document.createElement("meta");
  meta.httpEquiv = "Content-Security-Policy";
  meta.content = FORBID_ALL;
  document.head.append(meta);
}

/** The worker behind promises, with `model` and `choices` as brr.js has them. */
export class Engine {
  #worker;
  #waiting = new Map();
  #next = 0;

  /** Loads module, model and worker; seals the page before the worker starts. */
  static async start() {
    const module = hasSimd() ? "brr-simd128.wasm" : "brr-plain.wasm";
    const name = beside();
    const [wasm, model, language, source, other] = await Promise.all([
      get(module).then((r) => r.arrayBuffer()),
      get("english.brr").then((r) => r.arrayBuffer()),
      get("english.lm").then((r) => r.arrayBuffer()),
      get("worker.js").then((r) => r.text()),
      name && get(name).then((r) => r.arrayBuffer()),
    ]);
    performance.mark("fetched");
    seal();
    const engine = new Engine();
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    engine.#open(new Worker(url, { type: "module" }));
    Object.assign(engine, await engine.call("load", { wasm, model, language }, [wasm, model, language]));
    if (other) await engine.use(other);
    performance.mark("loaded");
    return engine;
  }

  /** Goes on with another model, of bytes, or with the one that came with the page. */
  async use(model) {
    Object.assign(this, await this.call("use", { model }, model ? [model] : []));
  }

  #open(worker) {
    this.#worker = worker;
    worker.onmessage = ({ data: { id, result, error } }) => {
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) resolve(result);
      else reject(new Error(error));
    };
    worker.onerror = () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the worker failed: reload the page"));
      this.#waiting.clear();
    };
  }

  /** Calls a method of worker.js. */
  call(method, args, transfer = []) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, method, args }, transfer);
    });
  }
}

/**
 * Runs only the newest of calls that come faster than they are served. While
 * they run, `region` is marked as busy.
 */
export function latest(region, run) {
  let busy = false;
  let again = false;
  return async function next() {
    region.setAttribute("aria-busy", "true");
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    do {
      again = false;
      await run();
    } while (again);
    busy = false;
    region.setAttribute("aria-busy", "false");
  };
}
