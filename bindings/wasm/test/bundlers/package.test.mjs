// The package as users get it: packed, installed in an empty folder, and bundled by Vite,
// esbuild and webpack for Chromium and for Node. What runs is the first example of its README,
// and a text with context.
// node --test bindings/wasm/test/bundlers (after scripts/build-web, and npm ci here and in web/test).
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as esbuild from "esbuild";
import * as vite from "vite";
import webpack from "webpack";
import { launch, PATIENCE, serve } from "../../../../web/test/browser.mjs";

const run = promisify(execFile);
const DIST = fileURLToPath(new URL("../../dist/", import.meta.url));
const PAGE = '<!doctype html><meta charset="utf-8"><script type="module" src="./app.js"></script>';
const SHIPPED = /\.(wasm|brr|lm)$/;

let folder; // an app of its own, with brr-wasm installed
let installed;
let browser;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "brr-app-"));
  installed = join(folder, "node_modules/brr-wasm");
  await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", folder, DIST]);
  await run("npm", ["install", "--silent", "--offline", "--no-audit", "--no-fund", stdout.trim()], { cwd: folder });
  const readme = await readFile(join(installed, "README.md"), "utf8");
  const [, example] = readme.match(/```js\n(.*?)```/s);
  await writeFile(join(folder, "app.js"), `${example}
    const reading = await Brr.load(undefined, { language: true });
    const decoded = reading.privatize("My doctor called.", { context: true }).tokens;
    console.log(JSON.stringify({ text, tokens, loss, decoded }));`);
  await writeFile(join(folder, "index.html"), PAGE);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

function checkAnswer(line) {
  const { text, tokens, loss, decoded } = JSON.parse(line);
  assert.match(text, /^\S+ \S+ \S+\.$/);
  assert.deepEqual([tokens, decoded], [3, 3]);
  assert.ok(loss > 0 && loss < 100);
}

// Runs a page until its first line on the console, or its first error.
async function checkPage(url) {
  const page = await browser.newPage();
  const line = await new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error("the page says nothing")), PATIENCE).unref();
    page.on("console", (message) => message.type() === "log" && resolve(message.text()));
    page.on("pageerror", reject);
    page.goto(url).catch(reject);
  });
  await page.close();
  checkAnswer(line);
}

async function checkFolder(out) {
  const site = await serve(out);
  try {
    await checkPage(site.url);
  } finally {
    site.close();
  }
}

async function checkNode(file) {
  const { stdout } = await run(process.execPath, [file], { cwd: tmpdir() });
  checkAnswer(stdout);
}

const out = async (name) => {
  await mkdir(join(folder, name), { recursive: true });
  return join(folder, name);
};

test("the package has what it names, licences, and no link that leads nowhere", async () => {
  const about = JSON.parse(await readFile(join(installed, "package.json"), "utf8"));
  assert.deepEqual((await readdir(installed)).sort(), [...about.files, "package.json"].sort());
  assert.equal(about.license, "MIT OR Apache-2.0");
  const version = (await readFile(new URL("../../Cargo.toml", import.meta.url), "utf8")).match(/^version = "(.*)"$/m)[1];
  assert.equal(about.version, version);
  for (const document of ["README.md", "PRIVACY.md"]) {
    const text = await readFile(join(installed, document), "utf8");
    const links = [...text.matchAll(/\]\(([^)]*)\)/g)].map(([, target]) => target);
    assert.deepEqual(links.filter((target) => !/^(https:|#)/.test(target)), [], document);
  }
});

test("installed, in Node", () => checkNode(join(folder, "app.js")));

test("types without a DOM, and with one", async () => {
  const use = await readFile(new URL("../types.ts", import.meta.url), "utf8");
  await writeFile(join(folder, "use.ts"), use.replace("../dist/brr.js", "brr-wasm"));
  await writeFile(join(folder, "dom.ts"), `import { Brr } from "brr-wasm";
    export const load = (url: URL, wasm: WebAssembly.Module) => Brr.load(url, { wasm });`);
  const tsc = fileURLToPath(new URL("../../../../web/test/node_modules/.bin/tsc", import.meta.url));
  for (const [file, lib] of [["use.ts", "es2022"], ["use.ts", "es2022,dom"], ["dom.ts", "es2022,dom"]]) {
    for (const module of [["nodenext"], ["esnext", "--moduleResolution", "bundler"]]) {
      await run(tsc, ["--noEmit", "--strict", "--target", "es2022", "--lib", lib,
        "--module", ...module, file], { cwd: folder }).catch(({ stdout }) => assert.fail(stdout));
    }
  }
});

test("Vite, built for Chromium", async () => {
  const to = await out("vite");
  await vite.build({ root: folder, base: "./", logLevel: "error", build: { outDir: to } });
  await checkFolder(to);
});

test("Vite's development server, in Chromium", async () => {
  const server = await vite.createServer({
    root: folder, logLevel: "error", server: { port: 0, host: "127.0.0.1" },
  });
  await server.listen();
  try {
    await checkPage(server.resolvedUrls.local[0]);
  } finally {
    await server.close();
  }
});

test("Vite, built for Node", async () => {
  const to = await out("vite-node");
  const ssr = join(folder, "app.js");
  await vite.build({ root: folder, logLevel: "error", build: { ssr, outDir: to } });
  await checkNode(join(to, "app.js"));
});

for (const platform of ["browser", "node"]) {
  test(`esbuild, for ${platform}`, async () => {
    const outdir = await out(`esbuild-${platform}`);
    await esbuild.build({
      absWorkingDir: folder, entryPoints: ["app.js"], bundle: true, format: "esm", platform, outdir, logLevel: "error",
    });
    // esbuild copies no files: the README says which.
    for (const file of await readdir(installed)) {
      if (SHIPPED.test(file)) await cp(join(installed, file), join(outdir, file));
    }
    if (platform === "node") return checkNode(join(outdir, "app.js"));
    await writeFile(join(outdir, "index.html"), PAGE);
    await checkFolder(outdir);
  });

  test(`webpack, for ${platform}`, async () => {
    const path = await out(`webpack-${platform}`);
    const target = platform === "node" ? "node20" : "web";
    const stats = await promisify(webpack)({
      context: folder, entry: "./app.js", mode: "production", target, output: { path, filename: "app.js", module: true },
      experiments: { outputModule: true }, performance: false,
    });
    assert.equal(stats.hasErrors(), false, stats.toString("errors-only"));
    if (platform === "node") return checkNode(join(path, "app.js"));
    await writeFile(join(path, "index.html"), PAGE);
    await checkFolder(path);
  });
}

test("bundled as a script, which does not know where it is, it says what to do", async () => {
  const outfile = join(await out("script"), "app.cjs");
  const contents = 'import { Brr } from "brr-wasm"; Brr.load().catch(({ name, message }) => console.log(name, message));';
  await esbuild.build({
    stdin: { contents, resolveDir: folder }, bundle: true, format: "cjs", platform: "node", outfile, logLevel: "silent",
  });
  const { stdout } = await run(process.execPath, [outfile]);
  assert.match(stdout, /^BrrError .*bundle it as an ES module, or give Brr\.load\(\) the model and the option wasm$/m);
});
