// Files, narrow screens and accessibility, in a real browser.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { parse, write } from "../src/csv.js";
import { launch, open, serve } from "./browser.mjs";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
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

// Drops a file on the box, as a hand would: its content, so many times.
async function drop(page, name, content, times = 1) {
  const transfer = await page.evaluateHandle(([name, content, times]) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(Array(times).fill(new Uint8Array(content)), name));
    return transfer;
  }, [name, [...Buffer.from(content)], times]);
  await page.dispatchEvent("#drop", "drop", { dataTransfer: transfer });
}

async function saved(page) {
  await page.waitForSelector("#file-save:not([hidden])");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#file-save")]);
  return [download.suggestedFilename(), await readFile(await download.path(), "utf8")];
}

test("CSV is read and written as it should be", () => {
  const text = 'a,b\r\n"x, ""y""\nz",2\r\nlast,\r\n';
  const rows = parse(text);
  assert.deepEqual(rows, [["a", "b"], ['x, "y"\nz', "2"], ["last", ""]]);
  assert.equal(write(rows, ","), text);
  assert.deepEqual(parse("a;b\n1;2"), [["a", "b"], ["1", "2"]]);
  assert.deepEqual(parse("a,"), [["a", ""]]);
  assert.throws(() => parse('a\n"open'), /never closed/);
});

test("a dropped CSV: the text column is offered, others only if asked for", async () => {
  const context = await browser.newContext({ acceptDownloads: true });
  const page = await open(context, site.url);
  const rows = Array.from({ length: 120 }, (_, i) => [String(1000 + i), 'the doctor said, "sleep more"', "Paris"]);
  const csv = write([["id", "review", "city"], ...rows], ",");
  await drop(page, "visits.csv", csv);
  await page.waitForSelector("#file-form:not([hidden])");
  assert.deepEqual(await page.locator("#columns input:checked").evaluateAll((boxes) => boxes.map((b) => b.value)), ["1"]);
  await page.click("#file-start");
  const [name, text] = await saved(page);
  assert.equal(name, "visits.private.csv");
  const out = parse(text);
  assert.deepEqual(out[0], ["review"]);
  assert.equal(out.length, 121);
  assert.ok(out.slice(1).every(([cell]) => /^.+ .+ .+, ".+ .+"$/.test(cell)));
  assert.doesNotMatch(text, /1007|Paris/);
  assert.match(await page.locator("#file-status").innerText(), /Done: 600 words/);

  await page.check("#others");
  await page.click("#file-start");
  const all = parse((await saved(page))[1]);
  assert.deepEqual(all[0], ["id", "review", "city"]);
  assert.equal(all[8][0], "1007");
  await context.close();
});

test("a dropped TXT keeps its lines, shows progress, and can be stopped", async () => {
  const context = await browser.newContext({ acceptDownloads: true });
  const page = await open(context, site.url);
  await drop(page, "notes.txt", "one two\n\nthree\n");
  await page.waitForSelector("#file-form:not([hidden])");
  await page.click("#file-start");
  const [name, text] = await saved(page);
  assert.equal(name, "notes.private.txt");
  assert.match(text, /^\S+ \S+\n\n\S+\n$/);

  // Seven million words: some minutes, which no machine has done before the click.
  await drop(page, "long.txt", "a long line about nothing in particular\n".repeat(1000), 1000);
  await page.waitForFunction(() => document.getElementById("file-status").textContent.startsWith("long.txt"));
  await page.click("#file-start");
  await page.waitForFunction(() => document.getElementById("progress").value > 0);
  await page.click("#file-stop");
  await page.waitForFunction(() => /Stopped/.test(document.getElementById("file-status").textContent));
  assert.equal(await page.locator("#file-save").isVisible(), false);
  await context.close();
});

test("files that cannot be used are refused with a reason", async () => {
  const context = await browser.newContext();
  const page = await open(context, site.url);
  for (const [name, content, why] of [
    ["a.txt", Buffer.from([255, 254, 0, 1]), /not UTF-8/],
    ["a.csv", "only,a,header\n", /no rows/],
    ["a.csv", 'a,b\n"x', /never closed/],
  ]) {
    await drop(page, name, content);
    await page.waitForFunction((why) => new RegExp(why).test(document.getElementById("file-status").textContent), why.source);
    assert.equal(await page.locator("#file-form").isVisible(), false);
  }
  await context.close();
});

test("fits a phone, in both themes, without accessibility violations", async () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [360, 1200]) {
      // Without motion: colours that are on their way have another contrast.
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 760 }, bypassCSP: true, reducedMotion: "reduce" });
      const page = await open(context, site.url);
      await page.waitForSelector("#chart svg");
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(overflow <= 0, `${width} px wide: ${overflow} px too many`);
      await page.evaluate(AXE);
      for (const dialog of [false, true]) {
        if (dialog) {
          await page.click(".w");
          await page.waitForSelector("#outcomes li");
        }
        const { violations } = await page.evaluate(() => window.axe.run());
        assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(" ")}`), []);
      }
      await context.close();
    }
  }
});
