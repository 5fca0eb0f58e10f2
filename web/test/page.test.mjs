// The page in a real browser: node --test web/test (after scripts/build-web).
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { launch, open, serve } from "./browser.mjs";

const REVIEW = await readFile(new URL("../../bindings/wasm/test/review.txt", import.meta.url), "utf8");
let site;
let browser;

before(async () => {
  site = await serve();
  browser = await launch();
});
after(async () => {
  await browser.close();
  site.close();
});

// A fresh page, with every request it makes on record.
async function fresh(options = {}) {
  const context = await browser.newContext({ acceptDownloads: true, ...options });
  const requests = [];
  context.on("request", (request) => requests.push(request.url()));
  const page = await open(context, site.url);
  return { context, page, requests };
}

async function type(page, text) {
  await page.fill("#input", text);
  await settled(page);
}

// Waits until the output is that of the last change.
async function settled(page) {
  await page.waitForSelector('#output[aria-busy="false"]', { state: "attached" });
}

const outputOf = (page) => page.locator("#output").innerText();

async function changedShare(page) {
  const [changed, all] = await page.evaluate(() =>
    [document.querySelectorAll(".w.changed").length, document.querySelectorAll(".w").length]);
  return changed / all;
}

test("typing changes the output, and only structure passes", async () => {
  const { context, page } = await fresh();
  await type(page, "hELLO (world), 4711 zyxxqu!");
  const output = await outputOf(page);
  assert.match(output, /^[^()]+ \([^()]+\), .+ .+!$/);
  assert.doesNotMatch(output, /hELLO|4711|zyxxqu/);
  assert.equal(await page.locator("#status").innerText().then((s) => /of 4 words changed/.test(s)), true);
  await type(page, "");
  assert.equal(await outputOf(page), "");
  await context.close();
});

test("all that a visit loads is under 4 MB, packed", async () => {
  const { context, page, requests } = await fresh();
  await type(page, "the film");
  let packed = 0;
  for (const url of new Set(requests.filter((url) => url.startsWith("http")))) {
    packed += gzipSync(Buffer.from(await (await fetch(url)).arrayBuffer())).length;
  }
  // A model, a language model and a module at least.
  assert.ok(packed > 2e6 && packed < 4e6, `${packed} bytes`);
  await context.close();
});

test("another language is a model file that the user picks, read in the sealed page", async () => {
  const { context, page, requests } = await fresh();
  const loaded = requests.length;
  await page.setInputFiles("#model-file", fileURLToPath(new URL("../../fuzz/seeds/model/64-table", import.meta.url)));
  await page.waitForFunction(() => document.querySelector("#language-note").textContent !== "");
  assert.match(await page.locator("#language option:checked").innerText(), /French/);
  await type(page, "The zyxxqu.");
  const words = (await outputOf(page)).toLowerCase().match(/[a-z]+/g);
  assert.ok(words.length === 2 && words.every((word) => ["the", "film", "was", "good", "bad"].includes(word)), words.join());
  assert.equal(await page.locator("[name=reading][value=drawn]").isChecked(), true);
  await page.selectOption("#language", "shipped");
  await page.waitForFunction(() => document.querySelector("#language-note").textContent === "");
  await type(page, "hello world");
  assert.equal(await page.locator("[name=reading][value=decoded]").isChecked(), true);
  assert.equal(requests.length, loaded, "nothing was fetched");
  await context.close();
});

test("what is private is a choice, and capital letters come from the output", async () => {
  const { context, page } = await fresh();
  const text = "THE doctor told susan that she was not well. was it late in CHICAGO?";
  await page.selectOption("#policy", "function-words");
  await type(page, text);
  assert.equal(await page.inputValue("#mechanism"), "tree");
  assert.equal(await page.locator("#error").isHidden(), true);
  // A word like "dr" may be drawn before the full stop, which then ends no sentence.
  assert.match(await outputOf(page), /^The \S+ \S+ \S+ that she was not \S+\. [Ww]as it \S+ in \S+\?$/);
  assert.match(await page.locator("#adjacency").innerText(), /public list function-words/);
  await page.selectOption("#policy", "names");
  await settled(page);
  assert.match(await outputOf(page), /^The doctor told [A-Za-z]+ that she was not well\. Was it late in [A-Za-z]+\?$/);
  await context.close();
});

test("a share is of the private words that leave, and a policy that changes mechanism and loss says so", async () => {
  const { context, page } = await fresh();
  const note = () => page.locator("#policy-note").innerText();
  const loss = async () => Number(await page.locator("#n-worst").innerText());
  await type(page, REVIEW);
  assert.equal(await note(), "");
  const before = await loss();
  for (const policy of ["function-words", "names"]) {
    await page.selectOption("#policy", policy);
    await settled(page);
    assert.match(await page.locator("body").innerText(), /about 4\d % of private words stay as they are\./);
    const now = await loss();
    assert.ok(now < before, `${policy}: ${now}, was ${before}`);
    assert.match(await note(), new RegExp(`now tree instead of exponential.* ${now}, where it was ${before}`));
  }
  // As drawn it takes more to keep half of the words, and the page says that too.
  await page.selectOption("#policy", "function-words");
  await page.check("[name=reading][value=drawn]", { force: true });
  await settled(page);
  const [drawn, said] = [await loss(), await note()];
  await page.selectOption("#policy", "all");
  await settled(page);
  assert.ok(drawn > (await loss()));
  assert.match(said, new RegExp(`${drawn}, more than ${await loss()} `));
  assert.equal(await note(), "");
  await context.close();
});

test("numbers and prose are those of the mechanism, which a policy changes for a while", async () => {
  const { context, page } = await fresh();
  const said = async () => {
    await settled(page);
    const text = (id) => page.locator(id).innerText();
    return [await text("#n-epsilon-name"), await text("#changed-note"), Number(await text("#n-worst"))];
  };
  // What the loss of any two words is, with these options.
  const worst = (mechanism) => page.evaluate(async (mechanism) =>
    (await window.engine.call("guarantee", { options: { mechanism, keep: 0.5, context: true } })).worstToken, mechanism);
  for (const [mechanism, unit, changed] of [
    ["exponential", /per bit/, /close to a random one/],
    ["brr", /per bit/, /close to a random one/],
    ["tree", /per level of the tree/, /tree of words/],
    ["k-ary", /any two words/, /each as likely/],
  ]) {
    await page.selectOption("#mechanism", mechanism);
    await type(page, `with ${mechanism}`);
    const [name, note, loss] = await said();
    assert.match(name, unit);
    assert.match(note, changed);
    assert.ok(Math.abs(loss - (await worst(mechanism))) < 0.06, `${mechanism} ${loss}`);
  }
  const mechanismUnder = async (policy) => {
    await page.selectOption("#policy", policy);
    return page.inputValue("#mechanism");
  };
  await page.selectOption("#mechanism", "brr");
  assert.deepEqual([await mechanismUnder("names"), await mechanismUnder("function-words"), await mechanismUnder("all")], ["tree", "tree", "brr"]);
  // What the user chooses stays.
  await mechanismUnder("names");
  await page.selectOption("#mechanism", "k-ary");
  assert.equal(await mechanismUnder("all"), "k-ary");
  await context.close();
});

test("what the page says is what it does", async () => {
  const { context, page } = await fresh();
  const { choices, model } = await page.evaluate(() => ({ choices: window.engine.choices, model: window.engine.model }));
  // Names, help, default mechanism and default budget are the core's.
  const offered = await page.locator("#mechanism option").evaluateAll((all) => all.map((o) => o.value));
  assert.deepEqual(offered, choices.mechanism.map(({ name }) => name));
  assert.equal(await page.inputValue("#mechanism"), choices.mechanism[0].name);
  assert.match(await page.locator("#mechanism-note").innerText(), new RegExp(choices.mechanism[0].help));
  const { name, value } = choices.budget;
  assert.deepEqual({ name, value }, { name: "keep", value: Number(await page.inputValue("#slider")) / 100 });
  assert.equal(await page.locator("[name=preset]:checked").getAttribute("value"), "balanced");
  assert.match(await page.locator("#default-note").innerText(), /Default: exponential, keep 0.5/);
  assert.equal(model.standing, "pinned");

  // What leaves is decoded, unless somebody wants it as drawn.
  assert.equal(await page.locator("[name=reading]:checked").getAttribute("value"), "decoded");
  assert.match(await page.locator("#reading-note").innerText(), /a plausible text, not what you wrote.*costs no privacy/s);
  const options = { mechanism: choices.mechanism[0].name, keep: choices.budget.value, context: true };
  const promised = await page.evaluate((options) => window.engine.call("guarantee", { options }), options);
  assert.equal(await page.locator("#adjacency").innerText(), promised.adjacency);
  const stays = `about ${Math.round(100 * promised.expectedKeep)} %`;
  assert.ok(promised.expectedKeep > 0.35 && promised.expectedKeep <= 0.5);
  assert.equal(await page.locator("#n-keep").innerText(), stays);
  const prose = await page.locator("body").innerText();
  assert.ok(prose.includes(`${stays} of words stay as they are`));
  assert.match(prose, /close to a random one/);
  assert.doesNotMatch(prose, /in meaning/);
  // 195 words, of which about so many stay on a sample, with a standard deviation of 4 %: 6 of these are
  // 24 %, and film reviews are another text.
  await type(page, REVIEW);
  assert.ok(Math.abs(1 - (await changedShare(page)) - promised.expectedKeep) < 0.3);
  await context.close();
});

test("a switch shows the words as drawn, and the dialog what was decoded from what", async () => {
  const { context, page } = await fresh();
  await page.selectOption("#mechanism", "brr");
  await page.fill("#epsilon", "0.45");
  await type(page, REVIEW);
  const decoded = await changedShare(page);
  // Of 195 words some tens are decoded to others than were drawn.
  const titles = [];
  for (let i = 0; i < 40 && !titles.some((title) => title.split("→").length === 3); i += 1) {
    await page.click(`.w >> nth=${i}`);
    titles.push(await page.locator("#word-title").innerText());
    await page.keyboard.press("Escape");
  }
  assert.ok(titles.some((title) => title.split("→").length === 3), titles.join());
  await page.check("[name=reading][value=drawn]", { force: true });
  await settled(page);
  assert.match(await page.locator("#reading-note").innerText(), /as it was drawn/);
  // At this epsilon 34 % of words change decoded, 70 % as drawn (standard deviation 4 % each).
  assert.ok((await changedShare(page)) > decoded + 0.1);
  await context.close();
});

test("more privacy changes more words, with both mechanisms", async () => {
  const { context, page } = await fresh();
  await page.check("[name=reading][value=drawn]", { force: true });
  await type(page, REVIEW);
  // Of 195 words all change, 59 % (standard deviation 4 %) and none: a false alarm
  // is 6.5 deviations off, once in ten billion runs.
  for (const [mechanism, middle] of [["brr", "0.5"], ["exponential", "0.09"]]) {
    await page.selectOption("#mechanism", mechanism);
    const shares = [];
    for (const epsilon of ["0.02", middle, "5"]) {
      await page.fill("#epsilon", epsilon);
      await settled(page);
      shares.push(await changedShare(page));
    }
    assert.ok(shares[0] > shares[1] + 0.15 && shares[1] > shares[2] + 0.3, `${mechanism} ${shares}`);
  }
  await page.selectOption("#mechanism", "brr");
  const bounds = [];
  for (const preset of ["strong", "light"]) {
    await page.check(`[name=preset][value=${preset}]`, { force: true });
    await settled(page);
    bounds.push(Number((await page.locator("#n-epsilon").innerText())));
  }
  assert.ok(bounds[0] < bounds[1], bounds.join());
  assert.equal(await page.inputValue("#epsilon"), "");
  await context.close();
});

test("no request leaves the page's own files, and none follows the seal", async () => {
  const { context, page, requests } = await fresh();
  const sealed = requests.length;
  assert.ok(requests.every((url) => url.startsWith(site.url) || url.startsWith("blob:") || url.startsWith("data:")), requests.join());
  await type(page, REVIEW);
  await page.click(".w");
  await page.waitForSelector("#posterior li, #posterior-note:has-text('draws')");
  await page.keyboard.press("Escape");
  await page.click("#again");
  await settled(page);
  assert.deepEqual(requests.slice(sealed).filter((url) => !url.startsWith("blob:")), []);
  await context.close();
});

test("the browser blocks every way out, to the page's own server too", async () => {
  const { context, page } = await fresh();
  const asked = site.requests.length;
  const targets = ["https://example.org/?secret", `${site.url}english.brr?secret`];
  for (const url of targets) {
    const ways = await page.evaluate(async (url) => {
      const image = (src) => new Promise((resolve) => {
        const node = Object.assign(new Image(), { onload: () => resolve("sent"), onerror: () => resolve("blocked") });
        node.src = src;
      });
      const script = (src) => new Promise((resolve) => {
        const node = Object.assign(document.createElement("script"), { onload: () => resolve("sent"), onerror: () => resolve("blocked") });
        node.src = src;
        document.head.append(node);
      });
      const tried = (promise) => promise.then(() => "sent", () => "blocked");
      return {
        fetch: await tried(fetch(url, { mode: "no-cors" })),
        worker: await window.engine.call("probe", { url }),
        image: await image(url),
        script: await script(url),
        module: await tried(import(url)),
      };
    }, url);
    assert.deepEqual(new Set(Object.values(ways)), new Set(["blocked"]), JSON.stringify(ways));
  }
  // These report nothing: the server's record tells.
  await page.evaluate((url) => {
    navigator.sendBeacon(`${url}beacon`, "secret");
    try { new EventSource(`${url}events`); } catch { /* blocked */ }
    try { new WebSocket(url.replace("http", "ws")); } catch { /* blocked */ }
    const form = Object.assign(document.createElement("form"), { action: `${url}form` });
    document.body.append(form);
    form.submit();
  }, site.url);
  await page.waitForTimeout(300);
  assert.deepEqual(site.requests.slice(asked), []);
  await context.close();
});

test("works offline after it has loaded", async () => {
  const { context, page } = await fresh();
  await context.setOffline(true);
  await type(page, "A quiet evening by the river.");
  assert.match(await outputOf(page), /\.$/);
  await page.fill("#chart-word", "river");
  await page.press("#chart-word", "Enter");
  await page.waitForSelector('#chart svg[aria-label*="river"]', { timeout: 30_000 });
  await context.close();
});

test("explain opens by mouse and keyboard, and closes", async () => {
  const { context, page } = await fresh();
  await page.fill("#epsilon", "0.6");
  await type(page, "the doctor called my mother");
  await page.click(".w >> nth=1");
  assert.equal(await page.locator("#word").evaluate((d) => d.open), true);
  await page.waitForSelector("#outcomes li");
  assert.match(await page.locator("#outcomes-title").innerText(), /doctor/);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#word").evaluate((d) => d.open), false);
  await page.focus(".w");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#posterior li, #posterior-note:has-text('cannot rank')");
  assert.match(await page.locator("#outcomes-title").innerText(), /called/);
  await page.click("#word-close");
  assert.equal(await page.locator("#word").evaluate((d) => d.open), false);
  await context.close();
});

test("errors are shown and go away", async () => {
  const { context, page } = await fresh();
  for (const wrong of ["-1", "abc", "0"]) {
    await page.fill("#epsilon", wrong);
    await page.waitForSelector("#error:not([hidden])");
    assert.match(await page.locator("#error").innerText(), /positive finite number/);
  }
  await page.fill("#epsilon", "0.5");
  await page.waitForSelector("#error", { state: "hidden" });
  await context.close();
});

test("a damaged model is an error, not a page that pretends", async () => {
  const context = await browser.newContext();
  await context.route("**/english.brr", async (route) => {
    const response = await route.fetch();
    const body = await response.body();
    body[body.length >> 1] ^= 1;
    await route.fulfill({ response, body });
  });
  const page = await context.newPage();
  await page.goto(site.url);
  await page.waitForSelector("#error:not([hidden])");
  assert.match(await page.locator("#error").innerText(), /checksum/);
  await context.close();
});

test("without vectors the plain module does the same", async () => {
  const context = await browser.newContext();
  await context.addInitScript(() => { WebAssembly.validate = () => false; });
  const page = await open(context, site.url);
  assert.match(await page.locator("#model-note").innerText(), /plain WebAssembly/);
  await type(page, "one, two");
  assert.match(await outputOf(page), /^.+, .+$/);
  await context.close();
});
