// The package in Node: node --test bindings/wasm/test (after scripts/build-web).
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { Brr, BrrError, hasSimd } from "../dist/node.js";

const TEXT = "The film was terrible, and Zyxxqu wasn't (really) in it!\nA waste of 90 minutes…";
const brr = await Brr.load();

for (const simd of [true, false]) {
  test(`${simd ? "vector" : "plain"} module keeps the layout and nothing else`, async () => {
    const one = await Brr.load(undefined, { simd });
    assert.equal(one.model.backend, simd ? "simd128" : "scalar");
    const out = one.privatize(TEXT, { epsilon: 0.01 });
    assert.equal(out.text.replace(/[^\n,()!…]+/g, ""), ",()!\n…");
    assert.doesNotMatch(out.text, /Zyxxqu|90/);
    assert.ok(out.tokens >= 14 && out.unknown >= 1);
  });

  test(`${simd ? "vector" : "plain"} module keeps nearly every word at a huge epsilon`, async () => {
    const one = await Brr.load(undefined, { simd });
    const text = (await readFile(new URL("review.txt", import.meta.url), "utf8")).toLowerCase();
    const { parts } = one.trace(text, { epsilon: 40 });
    const words = parts.filter((part) => part.original !== undefined);
    assert.ok(words.length >= 190);
    // Words that share a code with a lower id cannot come out.
    const moved = words.filter((part) => part.known && part.changed);
    assert.ok(moved.length <= 2, `${moved.length} of ${words.length}`);
  });
}

test("public words stay, private ones become private words, and case comes from the output", () => {
  const options = { mechanism: "tree", epsilon: 0.8, public: "function-words", case: "sentence" };
  const { text, tokens, public: known, loss } = brr.privatize("THE doctor was NOT here. it is late", options);
  assert.match(text, /^The \S+ was not here\. It is \S+$/);
  assert.deepEqual([tokens, known], [8, 6]);
  assert.ok(Math.abs(loss - 2 * brr.guarantee(options).worstToken) < 1e-6);
  assert.match(brr.guarantee(options).adjacency, /public list function-words/);
  const own = { mechanism: "k-ary", epsilon: 0.01, private: ["doctor", "Nurse"] };
  const drawn = new Set(Array.from({ length: 60 }, () => brr.privatize("a doctor", own).text));
  assert.deepEqual(drawn, new Set(["a doctor", "a nurse"]));
  assert.throws(() => brr.outcomes("film", own), /public/);
  assert.throws(() => brr.privatize("x", { ...own, public: "names" }), { code: "argument" });
  assert.throws(() => brr.privatize("x", { ...own, private: ["doctor", "qzxj"] }), (error) => /line 2/.test(error.message) && !/qzxj/.test(error.message));
  assert.throws(() => brr.privatize("x", { ...own, private: "qzxj" }), /function-words/);
  assert.throws(() => brr.privatize("x", { private: "names", keep: 0.5 }), { code: "budget" });
  assert.equal(brr.guarantee({ mechanism: "tree" }).keptWords, "words stay as they are");
  assert.equal(brr.guarantee(own).keptWords, "private words stay as they are");
});

test("spans have offsets in UTF-16 units, and draw from their lists", () => {
  const options = { mechanism: "k-ary", epsilon: 1 };
  const text = "😀 Ludmilla 😀 lives in Qwxzv 中";
  const spans = [{ start: 3, end: 11, list: "names" }, { start: 24, end: 29, list: "places" }];
  const private_ = brr.privatizeSpans(text, spans, options);
  const [a, b] = private_.spans;
  assert.equal(private_.text.slice(0, a.start), "😀 ");
  assert.equal(private_.text.slice(a.end, b.start), " 😀 lives in ");
  assert.equal(private_.text.slice(b.end), " 中");
  assert.deepEqual(private_.tokens, [1, 1]);
  assert.ok(Math.abs(private_.loss - 2) < 1e-6);
  const own = brr.privatizeSpans("x", [{ start: 0, end: 1, list: "few" }], { ...options, lists: { few: ["red", "Blue"] } });
  assert.match(own.text, /^(red|blue)$/);
  const age = brr.privatizeSpans("47", [{ start: 0, end: 2 }], { ...options, numbers: { low: 0, high: 120, scale: 5 } });
  assert.ok(Number(age.text) >= 0 && Number(age.text) <= 120);
  for (const wrong of [[{ start: 0, end: 1 }], [{ start: 0, end: 99 }], [{ start: 3, end: 5 }, { start: 4, end: 6 }], [{ start: -1, end: 2 }]]) {
    assert.throws(() => brr.privatizeSpans(text, wrong, options), { code: "input" });
  }
  assert.throws(() => brr.privatizeSpans("a", [{ start: 0, end: 1, list: "secret" }], options), /names, places/);
  assert.match(brr.spansAdjacency(options), /conditional on the marks/);
});

test("a session keeps its surrogates and restores", () => {
  const options = { mechanism: "k-ary", epsilon: 1 };
  const session = brr.session(options);
  const { text: name, loss } = session.privatize("Zyxwvut");
  assert.ok(Math.abs(loss - 1) < 1e-6);
  assert.equal(session.privatize("Zyxwvut").text, name);
  assert.deepEqual([session.words, session.collisions, Math.round(session.loss)], [1, 0, 1]);
  const answer = `Ask ${name}'s 😀 sister.`;
  assert.deepEqual(session.restore(answer), { text: "Ask Zyxwvut's 😀 sister.", restored: 1, ambiguous: 0 });
  const restorer = session.restorer();
  let parts = "";
  for (let i = 0; i < answer.length; i += 1) parts += restorer.push(answer[i]);
  assert.equal(parts + restorer.finish(), "Ask Zyxwvut's 😀 sister.");
  assert.deepEqual([restorer.restored, restorer.ambiguous], [1, 0]);
  const later = brr.session(options, session.export());
  assert.equal(later.privatize("Zyxwvut").text, name);
  session.addPublic(`a ${name}`);
  assert.equal(session.restore(name).ambiguous, 1);
  assert.match(session.adjacency, /partition/);
  assert.throws(() => brr.session(options, session.export().slice(1)), { code: "input" });
  assert.throws(() => brr.session({ mechanism: "k-ary", epsilon: 2 }, session.export()), { code: "argument" });
  for (const one of [session, later, restorer]) one.free();
  assert.throws(() => session.privatize("x"), { code: "argument" });
  assert.throws(() => brr.session({ ...options, unknown: "keep" }), { code: "argument" });
});

test("draws anew each time, from getRandomValues", () => {
  const outputs = Array.from({ length: 4 }, () => brr.privatize(TEXT, { epsilon: 0.1 }).text);
  assert.equal(new Set(outputs).size, 4);
});

test("many texts at once stay apart", () => {
  const { texts, tokens } = brr.privatizeBatch(["one, two!", "", "three\nfour €"], { epsilon: 0.2 });
  assert.equal(tokens, 5);
  assert.deepEqual(texts.map((text) => text.replace(/[^,!\n]+/g, "")), [",!", "", "\n"]);
  assert.deepEqual(brr.privatizeBatch([]).texts, []);
  assert.throws(() => brr.privatizeBatch("one"), /array of strings/);
});

test("no randomness is an error, not a fallback", () => {
  const original = globalThis.crypto.getRandomValues;
  globalThis.crypto.getRandomValues = () => { throw new Error("none"); };
  try {
    assert.throws(() => brr.privatize(TEXT), /gave no randomness/);
  } finally {
    globalThis.crypto.getRandomValues = original;
  }
});

test("the guarantee is never above what was asked", () => {
  for (const mechanism of ["brr", "exponential"]) {
    for (const epsilon of [0.05, 0.5, 2]) {
      const g = brr.guarantee({ mechanism, epsilon });
      assert.ok(g.epsilon <= epsilon && g.epsilon > 0, `${mechanism} ${g.epsilon}`);
      assert.ok(g.nearest < g.bound && g.bound < g.worst && g.worst <= g.worstToken);
    }
    assert.ok(brr.guarantee({ mechanism, bound: 30 }).bound <= 30);
  }
  const tree = brr.guarantee({ mechanism: "tree", epsilon: 0.85 });
  assert.equal(tree.losses.length, 16);
  assert.equal(tree.losses[0], 0);
  assert.ok(tree.losses.every((loss, level) => loss <= 0.85 * level + 1e-9 && (level === 0 || loss > 0.84 * level)));
  assert.equal(tree.losses[15], tree.worst);
  assert.deepEqual(brr.guarantee({ epsilon: 0.5 }).losses, []);
  const { loss, tokens } = brr.privatize("one two three", { epsilon: 0.5 });
  assert.equal(tokens, 3);
  assert.ok(loss >= 3 * brr.guarantee({ epsilon: 0.5 }).worst);
  assert.equal(brr.privatize("zyxxqu", { epsilon: 1, unknown: "mask" }).loss, Infinity);
  // The word that stands for it in JSON is a word like any other in a text.
  assert.ok(brr.privatizeBatch(["infinite"], { epsilon: 40 }).texts.every((text) => typeof text === "string"));
});

test("names and defaults are the core's, in types and documents too", async () => {
  const defaults = Object.fromEntries(Object.entries(brr.choices)
    .map(([kind, all]) => (kind === "budget" ? [all.name, all.value] : [kind, all[0].name])));
  assert.deepEqual(defaults, { mechanism: "exponential", layout: "keep", unknown: "random", search: "scan", case: "plain", keep: 0.5 });
  assert.deepEqual(brr.guarantee(), brr.guarantee(defaults));
  assert.ok(brr.guarantee().expectedKeep > 0.4 && brr.guarantee().expectedKeep <= 0.5);
  const types = await readFile(new URL("../js/brr.d.ts", import.meta.url), "utf8");
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  for (const kind of ["mechanism", "layout", "unknown", "case"]) {
    const names = brr.choices[kind].map(({ name }) => `"${name}"`);
    const type = `${kind[0].toUpperCase()}${kind.slice(1)}Name`;
    assert.ok(types.includes(`export type ${type} = ${names.join(" | ")};`), type);
    const row = readme.split("\n").find((line) => line.startsWith(`| \`${kind}\` |`));
    assert.ok(names.every((name) => row.includes(name)) && row.endsWith(`| \`${names[0]}\` |`), row);
    assert.ok(brr.choices[kind].every(({ help }) => help.length > 5));
  }
  assert.match(readme, new RegExp(`\\| \`${brr.choices.budget.name}: ${brr.choices.budget.value}\` \\|`));
});

test("the guarantee says which texts are neighbours", () => {
  assert.match(brr.guarantee().adjacency, /white space.*punctuation marks.*number of tokens/);
  assert.doesNotMatch(brr.guarantee({ layout: "words" }).adjacency, /punctuation/);
  assert.match(brr.guarantee({ unknown: "drop" }).adjacency, /infinite loss/);
});

test("only what holds for any codes is promised of a model that nobody checked", async () => {
  assert.equal(brr.model.standing, "pinned");
  const fixture = new URL("../../../crates/brr/tests/fixtures/version-1.brr", import.meta.url);
  const other = await Brr.load(await readFile(fixture));
  assert.deepEqual([other.model.standing, other.model.certificates, other.model.calibrated], ["unchecked", 0, false]);
  for (const mechanism of ["brr", "exponential"]) {
    assert.throws(() => other.privatize("secret", { mechanism, keep: 0.999 }), /give epsilon or bound/);
    const promised = other.guarantee({ mechanism, epsilon: 1 });
    // The farthest words of this model are 44 bits apart; of any model with such codes, 64.
    assert.ok(promised.worst > 0.95 * 64 && promised.worst <= 64, promised.worst);
  }
});

test("with context, a text has as many tokens and the same guarantee", async () => {
  const readable = await Brr.load(undefined, { language: true });
  const calm = "all is well. nothing changes at so large a bound!";
  for (const mechanism of ["brr", "exponential"]) {
    const options = { mechanism, bound: 20 };
    const [plain, decoded] = [false, true].map((context) => readable.privatize(TEXT, { ...options, context }));
    assert.deepEqual([decoded.tokens, decoded.loss], [plain.tokens, plain.loss]);
    assert.equal(decoded.text.replace(/[^\n,()!…]+/g, ""), ",()!\n…");
    const [without, within] = [false, true].map((context) => readable.guarantee({ ...options, context }));
    assert.deepEqual({ ...within, expectedKeep: null }, { ...without, expectedKeep: null });
    assert.equal(readable.privatize(calm, { mechanism, bound: 400, context: true }).text, calm);
    assert.equal(readable.trace(calm, { mechanism, bound: 400, context: true }).text, calm);
  }
  assert.deepEqual(readable.guarantee(), brr.guarantee());
  // Under a built-in policy a share is of the private words that leave, under one's own list of the draws.
  const half = { mechanism: "tree", keep: 0.5, public: "function-words" };
  const [drawn, decoded] = [false, true].map((context) => readable.guarantee({ ...half, context }));
  assert.ok(decoded.worstToken < drawn.worstToken - 3 && decoded.expectedKeep > 0.44 && decoded.expectedKeep <= 0.5);
  assert.deepEqual([drawn.keptWords, decoded.keptWords], Array(2).fill("private words stay as they are"));
  const own = readable.guarantee({ mechanism: "tree", keep: 0.5, private: ["doctor", "nurse", "lawyer"], context: true });
  assert.match(own.keptWords, /drawn as they were, and decoded text may keep more/);
});

test("a language model comes as a model does, and is refused as one", async () => {
  const url = new URL("../dist/english.lm", import.meta.url);
  const bytes = await readFile(url);
  for (const language of [url, fileURLToPath(url), bytes]) {
    const one = await Brr.load(undefined, { language });
    assert.equal(one.privatize("one two", { context: true }).tokens, 2);
  }
  const fails = (language, code, message, model) =>
    assert.rejects(Brr.load(model, { language }), { name: "BrrError", code, message });
  await fails(new Uint8Array(100), "model", /not a language model/);
  await fails(bytes.map((byte, i) => (i === bytes.length >> 1 ? byte ^ 1 : byte)), "model", /checksum/);
  await fails("./nowhere.lm", "file", /^cannot read the language model \.\/nowhere\.lm: ENOENT$/);
  await fails(5, "argument", /the language model must be bytes, a URL/);
  const other = new URL("../../../crates/brr/tests/fixtures/version-1.brr", import.meta.url);
  await fails(true, "model", /another vocabulary/, other);
  assert.throws(() => brr.privatize("secret", { context: true }), { code: "argument", message: /option language$/ });
  assert.throws(() => brr.privatize("secret", { context: "yes" }), { code: "argument", message: /true or false/ });
});

test("the language model is fetched only if it is asked for", async () => {
  const portable = await import("../dist/brr.js");
  const original = globalThis.fetch;
  const fetched = async (options) => {
    const names = [];
    globalThis.fetch = async (url) => {
      names.push(url.split("/").at(-1));
      return new Response(await readFile(new URL(url)));
    };
    await portable.Brr.load(undefined, options);
    return names.sort();
  };
  try {
    assert.deepEqual(await fetched({}), ["brr-simd128.wasm", "english.brr"]);
    assert.deepEqual(await fetched({ language: true }), ["brr-simd128.wasm", "english.brr", "english.lm"]);
  } finally {
    globalThis.fetch = original;
  }
});

test("a trace's parts are its text", () => {
  const traced = brr.trace(TEXT, { epsilon: 0.3 });
  assert.equal(traced.text, traced.parts.map((p) => p.text).join(""));
  const unknown = traced.parts.find((p) => p.original === "Zyxxqu");
  assert.deepEqual([unknown.known, unknown.changed], [false, true]);
});

for (const mechanism of ["brr", "exponential"]) {
  test(`outcomes and posterior, ${mechanism}: probabilities, and narrower with more budget`, () => {
    const stays = [0.1, 1.5].map((epsilon) => {
      const options = { mechanism, epsilon, draws: 400 };
      const [outcomes, posterior] = [brr.outcomes("film", options), brr.posterior("film", options)];
      const sum = outcomes.likely.reduce((s, l) => s + l.probability, 0);
      assert.ok(sum <= 1 + 1e-9 && outcomes.likely.every((l) => l.low <= l.high));
      assert.equal(outcomes.method, mechanism === "brr" ? "drawn" : "exact");
      const reach = outcomes.reach.map((r) => r.share);
      assert.deepEqual(reach, reach.toSorted((a, b) => a - b));
      assert.ok(posterior.likely.every((l) => l.probability <= 1));
      return outcomes.stays.probability;
    });
    assert.ok(stays[0] < stays[1], stays.join());
  });
}

test("unknown words have no explanation", () => {
  for (const ask of ["outcomes", "posterior"]) {
    assert.throws(() => brr[ask]("zyxxqu"), ({ code, message }) => code === "input" && !message.includes("zyxxqu"));
  }
});

test("unknown words stay if asked for, and the search may be another", () => {
  const { text, loss } = brr.privatize("zyxxqu", { epsilon: 1, unknown: "keep" });
  assert.deepEqual([text, loss], ["zyxxqu", Infinity]);
  const options = { mechanism: "brr", epsilon: 20, search: "multi-index" };
  assert.equal(brr.privatize("film", options).text, "film");
});

test("errors say what is wrong, and never quote the text", async () => {
  const fails = (options, message, code = "budget") => assert.throws(() => brr.privatize("secret", options), (error) => {
    assert.ok(error instanceof BrrError);
    assert.equal(error.code, code);
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /secret/);
    return true;
  });
  fails({ epsilon: -1 }, /positive finite/);
  fails({ epsilon: NaN }, /positive finite/);
  fails({ epsilon: "1" }, /must be a number/);
  fails({ keep: 2 }, /between 0 and 1/);
  fails({ keep: 0.5, bound: 3 }, /not several/);
  fails({ mechanism: "none" }, /no such mechanism: choose one of exponential, brr/, "argument");
  fails({ mechanism: "brr\nwords" }, /mechanism must be one of/, "argument");
  fails({ layout: 7 }, /layout must be one of/, "argument");
  fails({ search: "none" }, /choose one of scan, multi-index$/, "argument");
  assert.throws(() => brr.privatize(5), /must be a string/);
  fails(null, /must be an object, such as/, "argument");
  fails("keep", /must be an object, such as/, "argument");
  fails({ mechanism: null }, /mechanism must be one of/, "argument");
  fails({ keep: null }, /keep must be a number/);
  await assert.rejects(Brr.load(new Uint8Array(100)), /not a brr model/);
  const bytes = new Uint8Array(await readFile(new URL("../dist/english.brr", import.meta.url)));
  bytes[bytes.length >> 1] ^= 1;
  await assert.rejects(Brr.load(bytes), /checksum/);
  const freed = await Brr.load();
  freed.free();
  assert.throws(() => freed.privatize("secret"), /load it again/);
});

test("a misspelt option is an error in every call, not the default", () => {
  const calls = [
    (options) => brr.privatize("secret", options),
    (options) => brr.privatizeBatch(["secret"], options),
    (options) => brr.trace("secret", options),
    (options) => brr.outcomes("film", options),
    (options) => brr.posterior("film", options),
    (options) => brr.guarantee(options),
  ];
  for (const call of calls) {
    assert.throws(() => call({ epsilom: 0.1 }), { name: "BrrError", message: /no such option: did you mean epsilon\?/ });
    assert.throws(() => call({ secret: 1 }), { message: /no such option: choose from epsilon, bound, keep, mech/ });
    assert.throws(() => call(null), { name: "BrrError", message: /must be an object/ });
  }
  for (const call of calls.slice(3, 5)) {
    for (const draws of ["x", 0, -1, 1.5, NaN, Infinity, null]) {
      assert.throws(() => call({ draws }), { name: "BrrError", message: /draws must be a whole number of at least 1/ });
    }
    assert.throws(() => call({ top: "all" }), /top must be a whole number/);
  }
  assert.throws(() => brr.privatize("secret", { draws: 5 }), /no such option/);
});

test("a model that cannot be loaded is a clear error", async () => {
  const fails = (model, message, options) =>
    assert.rejects(Brr.load(model, options), { name: "BrrError", message });
  await fails("./m.brr", /^cannot read the model \.\/m\.brr: ENOENT$/);
  await fails(new URL("file:///nowhere/m.brr"), /^cannot read the model file:\/\/\/nowhere\/m\.brr: ENOENT$/);
  await fails("http://127.0.0.1:1/m.brr", /^cannot load the model from http:.*: no answer, or not a URL$/);
  for (const model of [null, 5, {}, ["./m.brr"]]) await fails(model, /must be bytes, a URL, or where to find it/);
  await fails(undefined, /must be an object/, null);
  await fails(undefined, /did you mean simd/, { SIMD: true });
  await fails(undefined, /simd must be true or false/, { simd: "yes" });
  await fails(undefined, /not WebAssembly/, { wasm: new Uint8Array(9) });
  // The portable half knows no files: it asks `fetch`, which wants a whole URL in Node.
  const portable = await import("../dist/brr.js");
  await assert.rejects(portable.Brr.load("./m.brr", { wasm: "./m.wasm" }), { name: "BrrError", message: /not a URL/ });
});

test("loads from a path, a URL, and without its class", async () => {
  const url = new URL("../dist/english.brr", import.meta.url);
  for (const model of [url, url.href, fileURLToPath(url)]) {
    const one = await Brr.load(model);
    assert.ok(one instanceof Brr);
    assert.equal(one.model.standing, "pinned");
  }
  assert.ok(await readFile(url).then(Brr.load) instanceof Brr);
});

test("runs in a worker thread", async () => {
  const source = `
    import { parentPort } from "node:worker_threads";
    import { Brr } from ${JSON.stringify(new URL("../dist/node.js", import.meta.url).href)};
    parentPort.postMessage((await Brr.load()).privatize("one two").tokens);`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`));
  const tokens = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  assert.equal(tokens, 2);
});

test("many options and texts do not grow memory without end", () => {
  for (let i = 1; i <= 200; i++) brr.privatize("a b c", { epsilon: i / 100 });
  assert.ok(hasSimd());
});
