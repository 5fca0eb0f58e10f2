// The gateway's page in Chromium: BRR_GATEWAY names the program. With SCREENSHOTS, pictures to look at.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { launch, watched } from "../../web/test/browser.mjs";

const SECRET = "Qwxzvja";
// Nothing listens at the upstream's port: what is sent fails, and is charged.
const started = (env) => {
  const gateway = spawn(process.env.BRR_GATEWAY, ["--listen", "127.0.0.1:0", "--openai", "http://127.0.0.1:1/v1"], { stdio: ["ignore", "ignore", "pipe"], env });
  after(() => gateway.kill());
  return new Promise((resolve) => {
    createInterface({ input: gateway.stderr }).on("line", (line) => {
      const found = /http:\/\/\S+:\d+/.exec(line);
      if (found) resolve(found[0]);
    });
  });
};
const base = await started(process.env);

const ask = (content) => fetch(`${base}/v1/chat/completions`, {
  method: "POST",
  headers: { "content-type": "application/json", authorization: "Bearer sk-1", "x-brr-conversation": SECRET },
  body: JSON.stringify({ model: "m", messages: [{ role: "user", content }] }),
});

test("the page shows what was spent, privatizes what is typed, and asks nobody else", async (t) => {
  assert.equal((await ask(`the ${SECRET} and ${SECRET}`)).status, 502);
  assert.equal((await ask([{ type: "image_url" }])).status, 400);
  const browser = await launch();
  t.after(() => browser.close());
  for (const look of [{ width: 1000, height: 900, scheme: "light" }, { width: 1000, height: 900, scheme: "dark" }, { width: 390, height: 800, scheme: "light" }]) {
    const context = await browser.newContext({ viewport: look, colorScheme: look.scheme });
    const { page, asked, complaints } = await watched(context);
    await page.goto(`${base}/`);
    await page.waitForSelector("#last tr");
    assert.deepEqual(await page.locator("#today tr").first().locator("td").allTextContents(), ["OpenAI", "1", "1", "1", "2", "15.0"]);
    const last = await page.locator("#last tr").evaluateAll((rows) => rows.map((row) => [...row.cells].slice(1).map((cell) => cell.textContent)));
    assert.deepEqual(last, [["OpenAI", "", "400", "", "not sent"], ["OpenAI", "new", "502", "2", "15.0"]]);
    assert.match(await page.textContent("#policy"), /default:[0-9a-f]{12}.*tree.*at most 15\.0 for each/);
    await page.fill("#text", `<b>${SECRET}</b> is late.`);
    await page.click("#try");
    await page.waitForSelector("#private:not([hidden])");
    const drawn = await page.textContent("#private");
    assert.ok(!drawn.includes(SECRET) && drawn.endsWith("."), "the word was drawn");
    assert.match(await page.textContent("#spent"), /private words?, .*loss at most/);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, "nothing is wider than the window");
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/gateway-${look.width}-${look.scheme}.png`, fullPage: true });
    // Nothing is kept: neither in the browser nor with the gateway.
    await page.reload();
    await page.waitForSelector("#last tr");
    assert.equal(await page.inputValue("#text"), "");
    assert.ok(!(await page.content()).includes(SECRET));
    assert.equal(await page.evaluate(() => localStorage.length + sessionStorage.length), 0);
    assert.deepEqual(asked.filter((url) => !url.startsWith(`${base}/`) && url !== "data:,"), []);
    assert.deepEqual(complaints, []);
    await context.close();
  }
});

test("a gateway with a token wants it from its page, by the address or by the form", async (t) => {
  const token = "0123456789abcdef";
  const locked = await started({ ...process.env, BRR_GATEWAY_TOKEN: token });
  assert.equal((await fetch(`${locked}/today`)).status, 401);
  const browser = await launch();
  t.after(() => browser.close());
  const shown = async (page) => {
    await page.waitForSelector("#today tr");
    assert.equal(await page.isVisible("#locked"), false);
    await page.fill("#text", SECRET);
    await page.click("#try");
    await page.waitForSelector("#private:not([hidden]):not(.bad)");
  };
  const first = await browser.newPage();
  await first.goto(`${locked}/#token=${token}`);
  await shown(first);
  assert.equal(first.url(), `${locked}/`);
  const second = await (await browser.newContext()).newPage();
  await second.goto(`${locked}/`);
  await second.waitForSelector("#locked:not([hidden])");
  assert.equal(await second.locator("#today tr").count(), 0);
  for (const typed of ["not the token", token]) {
    await second.fill("#token", typed);
    await second.click("#unlock button");
  }
  await shown(second);
});

test("a page elsewhere reaches nothing", async (t) => {
  const browser = await launch();
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto("data:text/html,<p>elsewhere");
  const reached = await page.evaluate(async (base) => {
    const ways = [["today", {}], ["try", { method: "POST", body: "{\"text\": \"a\"}" }], ["today", { mode: "no-cors" }]];
    return Promise.all(ways.map(([path, how]) => fetch(`${base}/${path}`, how).then((answer) => answer.type !== "opaque", () => false)));
  }, base);
  assert.deepEqual(reached, [false, false, false]);
});
