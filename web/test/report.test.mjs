// A report of `brr evaluate`, opened as a file: REPORT names it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { launch, watched } from "./browser.mjs";

test("a report shows its charts and tables, and asks for nothing", async () => {
  const browser = await launch();
  for (const look of [{ width: 1280, height: 900, scheme: "light" }, { width: 390, height: 800, scheme: "dark" }]) {
    const context = await browser.newContext({ viewport: look, colorScheme: look.scheme });
    const { page, asked, complaints } = await watched(context);
    await page.goto(pathToFileURL(process.env.REPORT).href);
    const charts = page.locator("figure svg");
    assert.ok((await charts.count()) >= 4, "there are charts");
    for (let i = 0; i < (await charts.count()); i++) {
      const box = await charts.nth(i).boundingBox();
      assert.ok(box.width > 300 && box.height > 150, `chart ${i} has a size`);
      assert.ok((await charts.nth(i).locator("polyline").count()) >= 1, `chart ${i} has lines`);
    }
    // Labels at the lines' ends must lie within the chart.
    const outside = await page.evaluate(() => [...document.querySelectorAll("figure svg")].flatMap((svg) => {
      const frame = svg.getBoundingClientRect();
      return [...svg.querySelectorAll("text")].filter((t) => {
        const box = t.getBoundingClientRect();
        return box.right > frame.right + 1 || box.bottom > frame.bottom + 1 || box.left < frame.left - 1;
      }).map((t) => t.textContent);
    }));
    assert.deepEqual(outside, [], "text outside of its chart");
    // Labels stand apart from each other.
    const colliding = await page.evaluate(() => [...document.querySelectorAll("figure svg")].flatMap((svg) => {
      const boxes = [...svg.querySelectorAll("text.label")].map((t) => [t.textContent, t.getBoundingClientRect()]);
      return boxes.flatMap(([name, a], i) => boxes.slice(i + 1)
        .filter(([, b]) => Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.4 * a.height)
        .map(([other]) => `${name} and ${other}`));
    }));
    assert.deepEqual(colliding, [], "labels that collide");
    if (look.width >= 1280) {
      const hidden = await page.evaluate(() => [...document.querySelectorAll(".scroll")]
        .filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.querySelector("caption").textContent));
      assert.deepEqual(hidden, [], "tables with columns out of sight");
      const narrow = await page.evaluate(() => [...document.querySelectorAll("main > .scroll")]
        .filter((box) => box.getBoundingClientRect().width < 0.9 * window.innerWidth).length);
      assert.equal(narrow, 0, "tables narrower than the window");
    }
    assert.match(await page.locator("h1 + p").innerText(), /^(To start with|No budget)/, "a recommended budget comes first");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 1, "the page does not scroll sideways");
    assert.ok((await page.locator("table").count()) >= 3);
    assert.equal(asked.length, 1, `only the file itself is asked for: ${asked}`);
    assert.deepEqual(complaints, []);
    if (process.env.SCREENSHOTS) {
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/report-${look.scheme}.png`, fullPage: true });
    }
    await context.close();
  }
  await browser.close();
});
