// How fast the page is in Chromium: node speed.mjs (after scripts/build-web).
import { readFile } from "node:fs/promises";
import { launch, open, serve } from "./browser.mjs";

const REVIEW = await readFile(new URL("../../bindings/wasm/test/review.txt", import.meta.url), "utf8");
const site = await serve();
const browser = await launch();
let [usable, best] = [Infinity, 0];
for (let round = 0; round < 3; round++) {
  const context = await browser.newContext();
  const page = await open(context, site.url);
  usable = Math.min(usable, await page.evaluate(() => performance.getEntriesByName("usable")[0].startTime));
  best = Math.max(best, await page.evaluate(async (text) => {
    let best = 0;
    for (let i = 0; i < 10; i++) {
      const start = performance.now();
      let words = 0;
      for (let k = 0; k < 20; k++) {
        words += (await window.engine.call("privatizeBatch", { texts: [text], options: { mechanism: "brr", epsilon: 0.5 } })).tokens;
      }
      best = Math.max(best, (1e3 * words) / (performance.now() - start));
    }
    return best;
  }, REVIEW));
  await context.close();
}
console.log(`chromium ${best.toFixed(0)}`);
const words = REVIEW.trim().split(/\s+/).length;
console.log(`page usable after ${usable.toFixed(0)} ms; ${words} words in ${((1e3 * words) / best).toFixed(1)} ms`);
await browser.close();
site.close();
