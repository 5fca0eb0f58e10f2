// Puts the page together.

import { chart, mark } from "./chart.js";
import { Output, save } from "./editor.js";
import { Engine, latest } from "./engine.js";
import { Files } from "./files.js";
import { LanguageSwitch } from "./language.js";
import { Privacy } from "./privacy.js";
import { WordDialog } from "./word.js";

const byId = (id) => document.getElementById(id);

const EXAMPLE = `My doctor in the small clinic near the river told me that the pain in my back comes from stress at work, and that I should sleep more and worry less.

Honestly, I was relieved. My sister had feared something worse, and she called our mother every evening until the results came back.`;

const STANDING = {
  pinned: "Its file is the one that was checked for this release.",
  unchecked: "Its file is not the one of this release: only what holds for any codes is promised.",
};

function showError(error) {
  const box = byId("error");
  box.hidden = !error;
  box.textContent = error ? error.message : "";
}

function showSealed(model) {
  byId("seal").dataset.state = "sealed";
  byId("seal-text").textContent = "Sealed: your browser now blocks every connection this page could make. You can go offline.";
  const name = model.meta.name ? ` “${model.meta.name}”` : "";
  byId("model-note").textContent = `Model${name}: ${model.words.toLocaleString("en")} words, ${model.bits}-bit codes. `
    + `${STANDING[model.standing]} Search: ${model.backend === "simd128" ? "128-bit vectors" : "plain WebAssembly"}.`;
}

function themeButton() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  byId("theme").addEventListener("click", () => {
    const now = document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
  });
}

function outputButtons(output, draw) {
  byId("again").addEventListener("click", draw);
  byId("clear").addEventListener("click", () => {
    byId("input").value = "";
    byId("input").focus();
    draw();
  });
  byId("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(output.text);
      byId("status").textContent = "Copied. If you release it, draw no second one of the same text.";
    } catch {
      showError(new Error("the browser does not allow copying: select the text and copy it by hand"));
    }
  });
  byId("download").addEventListener("click", () => save(output.text, "private.txt").click());
}

// A word of the output was chosen, under the options that it was drawn with.
function wordChooser(dialog, current) {
  return (part) => {
    if (part.public) {
      byId("status").textContent = "A public word: it stays as it is, and everybody may know it.";
      return;
    }
    dialog.open(part, current.options).catch(showError);
    if (!part.known) return;
    byId("chart-word").value = part.original.toLowerCase();
    byId("chart-word").dispatchEvent(new Event("change"));
  };
}

async function start() {
  themeButton();
  const input = byId("input");
  // Keep what a reload or an early typist has put there.
  input.value ||= EXAMPLE;
  const engine = await Engine.start();
  showSealed(engine.model);

  const current = { options: undefined };
  const output = new Output(wordChooser(new WordDialog(engine), current));
  const draw = latest(byId("output"), async () => {
    try {
      const { options } = privacy;
      await privacy.show(options);
      const trace = await engine.call("trace", { text: input.value, options });
      current.options = options;
      output.show(trace);
      privacy.showTotal(trace.loss);
      showError();
    } catch (error) {
      showError(error);
    }
    mark(privacy.position);
  });
  const drawChart = latest(byId("chart"), async () => {
    const word = byId("chart-word").value.trim();
    if (word) await chart(engine, privacy, word).catch(showError);
  });
  const privacy = new Privacy(engine, draw);
  input.addEventListener("input", draw);
  byId("chart-word").addEventListener("change", drawChart);
  byId("mechanism").addEventListener("change", drawChart);
  byId("policy").addEventListener("change", drawChart);
  outputButtons(output, draw);
  new Files(engine, privacy);
  new LanguageSwitch(engine, async (error) => {
    showSealed(engine.model);
    privacy.suit(engine.model);
    await draw();
    if (error) showError(error);
    drawChart();
  });

  await draw();
  performance.mark("usable");
  document.documentElement.dataset.ready = "true";
  // The tests try to get out through here; it can do nothing that the console
  // of a browser could not.
  window.engine = engine;
  drawChart();
}

start().catch((error) => {
  showError(error);
  byId("seal-text").textContent = "Not loaded.";
});
