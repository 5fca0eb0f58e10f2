// Pictures to look at: node web/test/screenshots.mjs FOLDER
import { mkdir } from "node:fs/promises";
import { launch, open, serve } from "./browser.mjs";

const folder = process.argv[2] ?? "screenshots";
await mkdir(folder, { recursive: true });
const site = await serve();
const browser = await launch();
for (const [name, colorScheme, width] of [["light", "light", 1200], ["dark", "dark", 1200], ["phone", "light", 390], ["phone-dark", "dark", 390]]) {
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 860 }, deviceScaleFactor: 1 });
  const page = await open(context, site.url);
  await page.waitForSelector("#chart svg", { timeout: 60_000 });
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  await page.click(".w >> nth=1");
  await page.waitForSelector("#outcomes li");
  await page.waitForTimeout(400);
  await page.screenshot({ path: `${folder}/${name}-word.png` });
  await context.close();
}
await browser.close();
site.close();
