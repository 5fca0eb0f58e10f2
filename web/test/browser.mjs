// A static server for web/dist or another folder, and Debian's Chromium to look at it with.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const DIST = fileURLToPath(new URL("../dist/", import.meta.url));
/** Milliseconds after which something has failed, on however slow a machine: nothing is measured by it. */
export const PATIENCE = 300_000;

const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".wasm": "application/wasm" };

/** Serves the page, or a folder; `requests` is what the server has been asked for. */
export async function serve(folder = DIST) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    requests.push(request.url);
    try {
      const body = await readFile(join(folder, normalize(path === "/" ? "index.html" : path)));
      response.setHeader("Content-Type", TYPES[extname(path)] ?? (path === "/" ? "text/html" : "application/octet-stream"));
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { requests, url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

/** Starts the browser. */
export function launch() {
  return chromium.launch({
    timeout: PATIENCE,
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--no-first-run"],
  });
}

/** A new page, and what it asks for and complains of. */
export async function watched(context) {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const asked = [], complaints = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  return { page, asked, complaints };
}

/** Opens the page and waits until it can be used. */
export async function open(context, url) {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  await page.goto(url);
  await page.waitForSelector("html[data-ready]");
  return page;
}
