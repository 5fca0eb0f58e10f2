// "What could this word have been?": the dialog about one word.

const byId = (id) => document.getElementById(id);
const DRAWS = 2000;

// Words that are listed, and words among which the user's own is looked for.
const LISTED = 10;
const RANKED = 1000;

const METHODS = {
  exact: "Computed exactly.",
  drawn: `Estimated from ${DRAWS.toLocaleString("en")} draws; ± is the 95 % interval.`,
  nearest: "Computed for the nearest words; all others enter by their average.",
  opaque: "Not known for this mechanism.",
};

function percent(x) {
  if (x >= 0.1) return `${(100 * x).toFixed(0)} %`;
  if (x >= 0.001) return `${(100 * x).toFixed(1)} %`;
  return "< 0.1 %";
}

function bar(likely, most, mark) {
  const item = document.createElement("li");
  const word = document.createElement("span");
  word.className = "bar-word";
  word.textContent = likely.word;
  const track = document.createElement("span");
  track.className = "bar-track";
  const fill = document.createElement("span");
  fill.className = likely.word === mark ? "bar-fill own" : "bar-fill";
  fill.style.width = `${(100 * likely.probability) / most}%`;
  track.append(fill);
  const number = document.createElement("span");
  number.className = "bar-number";
  const half = (likely.high - likely.low) / 2;
  number.textContent = percent(likely.probability) + (half > 0.002 ? ` ± ${(100 * half).toFixed(half < 0.01 ? 1 : 0)}` : "");
  item.append(word, track, number);
  return item;
}

function fill(list, likely, mark) {
  const most = Math.max(...likely.map((l) => l.probability), 1e-9);
  byId(list).replaceChildren(...likely.slice(0, LISTED).map((l) => bar(l, most, mark)));
  // Where the user's own word stands, if it is not among the first.
  const rank = likely.findIndex((l) => l.word === mark);
  if (rank < LISTED && rank >= 0) return;
  const item = document.createElement("li");
  item.className = "rank";
  item.textContent = rank < 0
    ? `Your “${mark}” is not among the ${likely.length.toLocaleString("en")} likeliest.`
    : `Your “${mark}” is in place ${rank + 1}, with ${percent(likely[rank].probability)}.`;
  byId(list).append(item);
}

/** Opens the dialog for a word of the output. */
export class WordDialog {
  #dialog = byId("word");
  #engine;

  constructor(engine) {
    this.#engine = engine;
    byId("word-close").addEventListener("click", () => this.#dialog.close());
    // A click on the backdrop is a click on the dialog itself.
    this.#dialog.addEventListener("click", ({ target }) => {
      if (target === this.#dialog) this.#dialog.close();
    });
  }

  async open(part, options) {
    const { text: output, drawn = output, original } = part;
    const way = drawn === output ? [original, output] : [original, drawn, output];
    byId("word-title").textContent = part.changed || drawn !== output ? way.join(" → ") : `${output} stayed`;
    byId("posterior-title").textContent = `What could “${drawn}” have been?`;
    byId("outcomes-title").textContent = `What becomes of “${original}”?`;
    for (const id of ["posterior", "outcomes"]) byId(id).replaceChildren();
    byId("posterior-note").textContent = byId("outcomes-note").textContent = "Computing…";
    this.#dialog.showModal();
    const ask = { ...options, top: RANKED, draws: DRAWS };
    const [posterior, outcomes] = await Promise.all([
      this.#engine.call("posterior", { word: drawn, options: ask }),
      this.#engine.call("outcomes", { word: original, options: ask }),
    ]);
    this.#showPosterior(posterior, original);
    this.#showOutcomes(outcomes, original);
  }

  #showPosterior(posterior, original) {
    if (!posterior || posterior.likely.length === 0) {
      byId("posterior-note").textContent =
        `So little points to any one word that ${DRAWS.toLocaleString("en")} draws cannot rank them.`;
      return;
    }
    byId("posterior-note").textContent =
      `To someone who held every word for equally likely before, and looks at this word alone, as drawn. ${METHODS[posterior.method]}`;
    fill("posterior", posterior.likely, original.toLowerCase());
  }

  #showOutcomes(outcomes, original) {
    if (!outcomes) {
      byId("outcomes-note").textContent =
        "The model does not know this word: it becomes any word, all equally likely.";
      return;
    }
    byId("outcomes-note").textContent =
      `Stays with probability ${percent(outcomes.stays.probability)}. ${METHODS[outcomes.method]}`;
    fill("outcomes", outcomes.likely, original.toLowerCase());
  }
}
