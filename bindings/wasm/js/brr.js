// brr in JavaScript: the half above src/lib.rs. Browsers, Workers and Node.
//
// Nothing here draws, cuts or writes text: it moves bytes to the WebAssembly
// module and answers back. Randomness is the platform's crypto.getRandomValues.

// A module that holds one 128-bit constant: valid only where there are vectors.
const SIMD_PROBE = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0,
  10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
);

// Most that crypto.getRandomValues gives at once.
const RANDOM_CHUNK = 65536;

// Privatizers kept ready, for callers that go back and forth between options.
const READY = 16;

/** What went wrong, and of which kind; never quotes the text. */
export class BrrError extends Error {
  name = "BrrError";

  constructor(code, message, options) {
    super(message, options);
    this.code = code;
  }
}

/** Whether this engine has 128-bit vectors. */
export function hasSimd() {
  return WebAssembly.validate(SIMD_PROBE);
}

// What some calls take besides the module's choices.
const EXPLAIN_OPTIONS = ["top", "draws"];
const SPAN_OPTIONS = ["lists", "numbers"];
const LOAD_OPTIONS = ["wasm", "simd", "language"];

// A misspelt budget must not become the default one: what is not known is an error. Its name
// is not quoted, as it may be text in the wrong place.
function checkOptions(options, known) {
  if (typeof options !== "object" || options === null) {
    throw new BrrError("argument", "the options must be an object, such as { keep: 0.5 }");
  }
  const wrong = Object.keys(options).find((name) => !known.includes(name));
  if (wrong === undefined) return;
  const meant = known.find((name) => name.startsWith(wrong.toLowerCase().slice(0, 3)));
  throw new BrrError("argument", meant
    ? `there is no such option: did you mean ${meant}?`
    : `there is no such option: choose from ${known.join(", ")}`);
}

// 0 leaves it to the core.
function countOf(name, value) {
  if (value === undefined) return 0;
  if (Number.isInteger(value) && value >= 1 && value < 2 ** 32) return value;
  throw new BrrError("argument", `${name} must be a whole number of at least 1`);
}

// What comes with the package. The URLs are literal, for bundlers to find the files by; where
// they are written decides where they lead, so they are asked for only when they are wanted.
const SHIPPED = {
  model: () => new URL("./english.brr", import.meta.url),
  language: () => new URL("./english.lm", import.meta.url),
  simd128: () => new URL("./brr-simd128.wasm", import.meta.url),
  plain: () => new URL("./brr-plain.wasm", import.meta.url),
};

function shipped(name) {
  try {
    return SHIPPED[name]();
  } catch (cause) {
    throw new BrrError("file", "brr.js cannot tell where its files are: bundle it as an ES module, "
      + "or give Brr.load() the model and the option wasm", { cause });
  }
}

// What is fetched in Node, too; anything else is a file there.
const FETCHED = /^(https?|data|blob):/i;

async function fetchBytes(url, what) {
  const response = await fetch(url).catch((cause) => {
    throw new BrrError("file", `cannot load the ${what} from ${url}: no answer, or not a URL`, { cause });
  });
  if (!response.ok) throw new BrrError("file", `cannot load the ${what} from ${url}: status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

async function bytesOf(source, what, readFile) {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (ArrayBuffer.isView(source)) {
    return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  }
  const url = typeof source === "string" ? source : source?.href;
  if (typeof url !== "string") throw new BrrError("argument", `the ${what} must be bytes, a URL, or where to find it`);
  return readFile && !FETCHED.test(url) ? readFile(url, what) : fetchBytes(url, what);
}

async function moduleOf(source, readFile) {
  if (source instanceof WebAssembly.Module) return source;
  const bytes = await bytesOf(source, "module", readFile);
  return WebAssembly.compile(bytes).catch((cause) => {
    throw new BrrError("file", "the module is not WebAssembly, or this engine cannot run it", { cause });
  });
}

// No language model unless it is asked for: it is larger than all the rest.
async function languageOf(source, readFile) {
  if (source === false) return undefined;
  return bytesOf(source === true ? shipped("language") : source, "language model", readFile);
}

// A list of words as the module takes it: the name of a built-in one, or words with a tab after each.
function wordsOf(option, list = "") {
  if (typeof list === "string") return list.replace(/[\n\t]/g, " ");
  if (!Array.isArray(list) || list.some((word) => typeof word !== "string")) {
    throw new BrrError("argument", `${option} must be the name of a list of words, or an array of words`);
  }
  return list.map((word) => `${word.replace(/[\n\t]/g, " ")}\t`).join("") || "\t";
}

// Choices cross as their names, a line each in the module's order, and then the name of the
// budget. What is not chosen is left to the core: an empty name.
function namesOf({ budget: _, ...choices }, options) {
  return Object.keys(choices).map((kind) => {
    const name = options[kind] === undefined ? "" : options[kind];
    if (typeof name === "string" && !name.includes("\n")) return name;
    throw new BrrError("argument", `${kind} must be one of the names in choices.${kind}`);
  });
}

function budgetOf({ budget }, options) {
  const given = budget.names.filter((name) => options[name] !== undefined);
  if (given.length > 1) throw new BrrError("budget", `give one of ${given.join(" and ")}, not several`);
  const [name = ""] = given;
  if (name && typeof options[name] !== "number") throw new BrrError("budget", `${name} must be a number`);
  return [name, options[name] ?? 0];
}

// Number of texts, their lengths, their bytes: what `privatize_batch` reads.
function batchOf(texts) {
  const encoded = texts.map((text) => new TextEncoder().encode(text));
  const head = [texts.length, ...encoded.map((bytes) => bytes.length)];
  const size = 4 * head.length + encoded.reduce((sum, bytes) => sum + bytes.length, 0);
  const batch = new Uint8Array(size);
  const view = new DataView(batch.buffer);
  head.forEach((number, i) => view.setUint32(4 * i, number, true));
  let start = 4 * head.length;
  for (const bytes of encoded) {
    batch.set(bytes, start);
    start += bytes.length;
  }
  return batch;
}

// A line for each span: start, end, list.
function spansOf(spans) {
  if (!Array.isArray(spans)) throw new BrrError("input", "the spans must be an array of { start, end, list }");
  return spans.map(({ start, end, list = "" } = {}) => {
    if (!Number.isInteger(start) || !Number.isInteger(end) || typeof list !== "string") {
      throw new BrrError("input", "a span must have start and end, whole numbers, and may have the name of a list");
    }
    return `${start} ${end} ${list.replace(/\n/g, " ")}`;
  }).join("\n");
}

// What spans draw from: for each list its name and its words. Without lists, the built-in ones.
function listsOf(lists = { names: "names", places: "places" }) {
  if (typeof lists !== "object" || lists === null) throw new BrrError("argument", "lists must be an object of lists by name");
  return Object.entries(lists).flatMap(([name, words]) => [name.replace(/\n/g, " "), wordsOf("a list", words)]);
}

// Low, high and scale; a scale of 0 for words in place of numbers.
function numbersOf(numbers) {
  if (numbers === undefined) return [0, 0, 0];
  const { low, high, scale } = numbers ?? {};
  if (![low, high, scale].every(Number.isSafeInteger) || scale < 1) {
    throw new BrrError("argument", "numbers must be { low, high, scale }, whole numbers");
  }
  return [low, high, scale];
}

/** A conversation in which each distinct word has one surrogate. Made by Brr.session(). */
export class Session {
  #call;
  #handle;

  constructor(call, handle, adjacency) {
    this.#call = call;
    this.#handle = handle;
    /** Which conversations are neighbours, and so what is public. */
    this.adjacency = adjacency;
  }

  /** Privatizes a whole text, under the options' policy. */
  privatize(text) {
    return this.#ask("session_privatize", text);
  }

  /** Privatizes these parts of a text; what is not marked goes out as it is. */
  privatizeSpans(text, spans) {
    return this.#call("session_spans", this.#open(), batchOf([checked(text), spansOf(spans)]), 0);
  }

  /** Tells of text that leaves in clear: surrogates that stand in it too are ambiguous. */
  addPublic(text) {
    this.#ask("session_public", text);
  }

  /** Puts the originals back into a text. */
  restore(text) {
    const restorer = this.restorer();
    try {
      return restorer.last(checked(text));
    } finally {
      restorer.free();
    }
  }

  /** The same for a text that comes in parts. */
  restorer() {
    return new Restorer(this.#call, this.#call("restorer_new", this.#open()));
  }

  /** The session as bytes, which hold the originals. */
  export() {
    const hex = this.#call("session_export", this.#open());
    return Uint8Array.from(hex.match(/../g), (byte) => parseInt(byte, 16));
  }

  /** The largest loss between neighbours so far. */
  get loss() {
    return this.#call("session_state", this.#open()).loss;
  }

  /** How many distinct words were drawn. */
  get words() {
    return this.#call("session_state", this.#open()).words;
  }

  /** How many surrogates stand for more than one word. */
  get collisions() {
    return this.#call("session_state", this.#open()).collisions;
  }

  /** Overwrites what the session knows; it is of no use afterwards. */
  free() {
    if (this.#handle) this.#call("session_free", this.#handle);
    this.#handle = 0;
  }

  #ask(name, text) {
    return this.#call(name, this.#open(), new TextEncoder().encode(checked(text)));
  }

  #open() {
    if (!this.#handle) throw new BrrError("argument", "this session was freed");
    return this.#handle;
  }
}

/** Restores a text that comes in parts, cut anywhere. Made by Session.restorer(). */
export class Restorer {
  #call;
  #handle;
  // Half of a character, if a part ended there.
  #half = "";
  #counts = { restored: 0, ambiguous: 0 };

  constructor(call, handle) {
    this.#call = call;
    this.#handle = handle;
  }

  /** Takes the next part; gives what can be told of the text now. */
  push(part) {
    const text = this.#half + checked(part);
    const whole = /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
    this.#half = text.slice(whole.length);
    return this.#send(whole, 0).text;
  }

  /** Gives the rest of the text, which has ended. */
  finish() {
    return this.last("").text;
  }

  /** As push and finish, with the counts. */
  last(part) {
    const text = this.#half + part;
    this.#half = "";
    return this.#send(text, 1);
  }

  /** How many surrogates became originals so far. */
  get restored() {
    return this.#counts.restored;
  }

  /** How many were left so far, as it is not certain what they stand for. */
  get ambiguous() {
    return this.#counts.ambiguous;
  }

  /** Overwrites what the restorer knows; it is of no use afterwards. */
  free() {
    if (this.#handle) this.#call("restorer_free", this.#handle);
    this.#handle = 0;
  }

  #send(text, last) {
    if (!this.#handle) throw new BrrError("argument", "this restorer was freed");
    const answer = this.#call("restorer_push", this.#handle, new TextEncoder().encode(text), last);
    this.#counts = answer;
    return answer;
  }
}

function checked(text) {
  if (typeof text !== "string") throw new BrrError("input", "the text must be a string");
  return text;
}

/** A loaded model, ready to privatize. */
export class Brr {
  #exports;
  #model;
  #language = 0;
  #known;
  #ready = new Map();
  #broken = false;

  /** Loads the module and a model: bytes or a URL; by default English. `readFile` is for node.js. */
  static async load(model, options = {}, readFile = undefined) {
    checkOptions(options, LOAD_OPTIONS);
    const { wasm, simd = hasSimd(), language = false } = options;
    if (typeof simd !== "boolean") throw new BrrError("argument", "simd must be true or false");
    const [code, data, pairs] = await Promise.all([
      moduleOf(wasm === undefined ? shipped(simd ? "simd128" : "plain") : wasm, readFile),
      bytesOf(model === undefined ? shipped("model") : model, "model", readFile),
      languageOf(language, readFile),
    ]);
    // node.js loads its own subclass; `promise.then(Brr.load)` has no `this`.
    const brr = new (this ?? Brr)();
    await brr.#start(code, data, pairs);
    return brr;
  }

  async #start(code, data, pairs) {
    const fillRandom = (pointer, length) => {
      try {
        const bytes = new Uint8Array(this.#exports.memory.buffer, pointer, length);
        for (let i = 0; i < length; i += RANDOM_CHUNK) {
          globalThis.crypto.getRandomValues(bytes.subarray(i, i + RANDOM_CHUNK));
        }
        return 0;
      } catch {
        return 1;
      }
    };
    const imports = { platform: { fill_random: fillRandom } };
    this.#exports = (await WebAssembly.instantiate(code, imports)).exports;
    this.#model = this.#run(() => this.#exports.model_new(...this.#put(data)));
    /** What the model is. */
    this.model = Object.freeze(JSON.parse(this.#answer()));
    if (pairs) this.#language = this.#run(() => this.#exports.language_new(this.#model, ...this.#put(pairs)));
    this.#run(() => this.#exports.choices_all());
    /** What can be chosen, the default first, and the default budget. */
    this.choices = Object.freeze(JSON.parse(this.#answer()));
    const { budget, ...named } = this.choices;
    this.#known = [...budget.names, ...Object.keys(named), "context", "public", "private"];
  }

  /** Privatizes a text. */
  privatize(text, options = {}) {
    return this.#ask("privatize", text, options);
  }

  /** Privatizes many texts, each word on its own: faster than one by one. */
  privatizeBatch(texts, options = {}) {
    if (!Array.isArray(texts) || texts.some((text) => typeof text !== "string")) {
      throw new BrrError("input", "the texts must be an array of strings");
    }
    return this.#send("privatize_batch", batchOf(texts), options);
  }

  /** Privatizes these parts of a text; what is not marked goes out as it is. */
  privatizeSpans(text, spans, options = {}) {
    const { handle } = this.#spanned(options);
    return this.#call("session_spans", handle, batchOf([checked(text), spansOf(spans)]), 1);
  }

  /** Which texts with marked spans are neighbours, and so what is public. */
  spansAdjacency(options = {}) {
    return this.#spanned(options).spans;
  }

  /** Begins a session, or goes on with one that was exported. */
  session(options = {}, exported = undefined) {
    const [handle, { adjacency }] = this.#begin(options, exported);
    return new Session((...call) => this.#call(...call), handle, adjacency);
  }

  /** Privatizes a text and tells what became of which word. Not for release. */
  trace(text, options = {}) {
    const traced = this.#ask("trace", text, options);
    traced.text = traced.parts.map((part) => part.text).join("");
    return traced;
  }

  /** What comes out when a word goes in. */
  outcomes(word, options = {}) {
    return this.#explain("outcomes", word, options);
  }

  /** What may have gone in when a word came out. */
  posterior(word, options = {}) {
    return this.#explain("posterior", word, options);
  }

  /** What is promised with these options, per token. */
  guarantee(options = {}) {
    return this.#privatizer(options).guarantee;
  }

  /** Lets go of all memory; the object is of no use afterwards. */
  free() {
    this.#broken = true;
    this.#ready.clear();
    this.#exports = undefined;
  }

  // A session that only lends its privatizer: spans are drawn without it.
  #spanned(options) {
    const key = JSON.stringify(["spans", ...Object.entries(options)]);
    const ready = this.#ready.get(key);
    if (ready) return ready;
    const [handle, { spans }] = this.#begin(options);
    const made = { handle, spans, free: "session_free" };
    this.#keep(key, made);
    return made;
  }

  #begin(options, exported = undefined) {
    checkOptions(options, [...this.#known, ...SPAN_OPTIONS]);
    const { lists, numbers, ...others } = options;
    if (this.#context(others)) {
      throw new BrrError("argument", "spans and sessions are written as drawn: leave context out");
    }
    const [lines, value] = this.#lines(others);
    const texts = [[lines, ...listsOf(lists)].join("\n")];
    if (exported !== undefined) texts.push(Array.from(exported, (byte) => byte.toString(16).padStart(2, "0")).join(""));
    const bytes = batchOf(texts);
    const handle = this.#run(() => this.#exports.session_new(this.#model, ...this.#put(bytes), value, ...numbersOf(numbers)));
    return [handle, JSON.parse(this.#answer())];
  }

  // A call on a session or restorer, by its name in the module.
  #call(name, handle, bytes, ...numbers) {
    if (name.endsWith("_free")) return this.#broken ? undefined : this.#exports[name](handle);
    const input = () => (bytes === undefined ? [] : this.#put(bytes));
    const result = this.#run(() => this.#exports[name](handle, ...input(), ...numbers));
    if (name === "restorer_new") return result;
    const answer = this.#answer();
    return answer.startsWith("{") ? JSON.parse(answer) : answer;
  }

  #explain(name, word, options) {
    checkOptions(options, [...this.#known, ...EXPLAIN_OPTIONS]);
    const { top, draws, ...others } = options;
    return this.#ask(name, word, others, countOf("top", top), countOf("draws", draws));
  }

  #ask(name, text, options, ...numbers) {
    if (typeof text !== "string") throw new BrrError("input", "the text must be a string");
    return this.#send(name, new TextEncoder().encode(text), options, ...numbers);
  }

  #send(name, bytes, options, ...numbers) {
    const { handle } = this.#privatizer(options);
    this.#run(() => this.#exports[name](handle, ...this.#put(bytes), ...numbers));
    const answer = JSON.parse(this.#answer());
    // JSON has no infinity.
    if (answer?.loss === "infinite") answer.loss = Infinity;
    return answer;
  }

  #privatizer(options) {
    checkOptions(options, this.#known);
    const [names, value] = this.#lines(options);
    const language = this.#context(options);
    const key = [names, value, language].join();
    const ready = this.#ready.get(key);
    if (ready) return ready;
    const bytes = new TextEncoder().encode(names);
    const handle = this.#run(() => this.#exports.privatizer_new(this.#model, language, ...this.#put(bytes), value));
    const made = { handle, guarantee: Object.freeze(JSON.parse(this.#answer())) };
    this.#keep(key, made);
    return made;
  }

  // What the module reads options from, and the number of the budget.
  #lines(options) {
    const [budget, value] = budgetOf(this.choices, options);
    const lists = [wordsOf("public", options.public), wordsOf("private", options.private)];
    return [[...namesOf(this.choices, options), budget, ...lists].join("\n"), value];
  }

  // Keeps a privatizer ready, and lets go of the oldest.
  #keep(key, made) {
    if (this.#ready.size === READY) {
      const [oldest, { handle, free = "privatizer_free" }] = this.#ready.entries().next().value;
      this.#ready.delete(oldest);
      this.#exports[free](handle);
    }
    this.#ready.set(key, made);
  }

  // The language model that these options ask for, or none.
  #context({ context = false }) {
    if (typeof context !== "boolean") throw new BrrError("argument", "context must be true or false");
    if (context && !this.#language) {
      throw new BrrError("argument", "there is no language model for context: give Brr.load() the option language");
    }
    return context ? this.#language : 0;
  }

  // Copies bytes into the module, which takes them over: [pointer, length].
  #put(bytes) {
    const pointer = this.#exports.input_new(bytes.length);
    new Uint8Array(this.#exports.memory.buffer, pointer, bytes.length).set(bytes);
    return [pointer, bytes.length];
  }

  // Runs a call that returns 0 if its answer is an error: its kind, and its message.
  #run(call) {
    if (this.#broken) throw new BrrError("argument", "this object was freed or broke: load it again");
    let result;
    try {
      result = call();
    } catch (error) {
      // A trap leaves the module's memory in an unknown state.
      this.#broken = true;
      throw new BrrError("internal", "an internal error in brr (out of memory, or a bug)", { cause: error });
    }
    if (result === 0) {
      const [kind, ...message] = this.#answer().split("\n");
      throw new BrrError(kind, message.join("\n"));
    }
    return result;
  }

  #answer() {
    const { memory, answer_pointer, answer_len, wipe_answer } = this.#exports;
    const bytes = new Uint8Array(memory.buffer, answer_pointer(), answer_len());
    const text = new TextDecoder().decode(bytes);
    wipe_answer();
    return text;
  }
}
