// The privacy control: presets, slider, mechanism, exact epsilon; and the
// numbers behind them. Names, help and defaults are the core's.

import { isShipped } from "./language.js";

/** Share of words that stay, for each preset. */
export const PRESETS = { strong: 0.2, balanced: 0.5, light: 0.8 };

/** What is private: a name, and the lists of words that say so. */
export const POLICIES = {
  all: ["every word", {}],
  "function-words": ["all but function words", { public: "function-words" }],
  names: ["names and places", { private: "names+places" }],
};

// Mechanisms that know what share of some words they keep, without a look at all pairs of them.
const OF_SOME_WORDS = ["tree", "k-ary"];

// What epsilon is the loss of, by the distance that it is measured in.
const UNITS = { hamming: "epsilon per bit", tree: "epsilon per level of the tree", discrete: "epsilon of any two words" };

// What becomes of words that change.
const RANDOM = "As drawn, a word that changes becomes close to a random one, and decoding puts one there that fits its neighbours: "
  + "do not expect the replacement to mean anything similar.";
const CHANGED = {
  tree: "The nearer a word stands to yours in a tree of words, the likelier it is to come out, so a replacement may mean something "
    + "similar; the fewer words stay, the seldomer it does.",
  "k-ary": "A word that changes becomes any other word, each as likely: the replacement means nothing.",
};

const DECODED = "Decoded after the draw, on your device, with a public language model: a plausible text, not what you wrote. "
  + "It is computed after the noise, from what the noise left and from public files alone, so it costs no privacy.";
const DRAWN = "Each word as it was drawn, on its own.";

const byId = (id) => document.getElementById(id);
const percent = (x) => `${Math.round(100 * x)} %`;

/** A number with about three digits. */
export function short(x) {
  if (!Number.isFinite(x)) return "no limit";
  if (x >= 1000) return Math.round(x).toLocaleString("en");
  return x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(3);
}

/** What the user chose. */
export class Privacy {
  #engine;
  #drawnKeep;
  // The mechanism that gave way when not all words were to be private.
  #before;

  constructor(engine, changed) {
    this.#engine = engine;
    this.#offer(engine.choices);
    this.suit(engine.model);
    const slider = byId("slider");
    byId("presets").addEventListener("change", ({ target }) => {
      slider.value = 100 * PRESETS[target.value];
      byId("epsilon").value = "";
      changed();
    });
    slider.addEventListener("input", () => {
      byId("epsilon").value = "";
      this.#markPreset();
      changed();
    });
    byId("policy").addEventListener("change", () => {
      this.#suitPolicy();
      changed();
    });
    byId("mechanism").addEventListener("change", () => {
      this.#before = undefined;
      changed();
    });
    byId("reading").addEventListener("change", changed);
    byId("epsilon").addEventListener("input", () => {
      this.#markPreset();
      changed();
    });
  }

  // Another mechanism, if this one does not know what share of some words it keeps; and the one from before once all
  // words are private again, unless the user has chosen since.
  #suitPolicy() {
    if (byId("policy").value === "all") {
      byId("mechanism").value = this.#before ?? this.mechanism;
      this.#before = undefined;
    } else if (!OF_SOME_WORDS.includes(this.mechanism)) {
      this.#before = this.mechanism;
      [byId("mechanism").value] = OF_SOME_WORDS;
    }
  }

  // What there is to choose, set to what the core does when nothing is chosen.
  #offer({ mechanism, budget }) {
    const option = (value, textContent) => Object.assign(document.createElement("option"), { value, textContent });
    byId("mechanism").replaceChildren(...mechanism.map(({ name }) => option(name, name)));
    byId("policy").replaceChildren(...Object.entries(POLICIES).map(([value, [name]]) => option(value, name)));
    if (budget.name === "keep") byId("slider").value = 100 * budget.value;
    byId("default-note").textContent = `Default: ${mechanism[0].name}, ${budget.name} ${budget.value}.`;
    this.#markPreset();
  }

  /** What a model can do: one that was not checked knows no share of words that stay but for some mechanisms, and there
   *  are no lists of names and no language model but for the one that came with the page. */
  suit(model) {
    const shipped = isShipped(model);
    const [decoded, drawn] = document.querySelectorAll("[name=reading]");
    decoded.disabled = !shipped;
    (shipped ? decoded : drawn).checked = true;
    const words = model.language.functionWords > 0;
    for (const option of byId("policy").options) {
      option.disabled = !shipped && (option.value === "names" || (option.value === "function-words" && !words));
      if (option.disabled && option.selected) byId("policy").value = "all";
    }
    if (!shipped && !OF_SOME_WORDS.includes(this.mechanism)) byId("mechanism").value = model.tree ? "tree" : "k-ary";
    this.#before = undefined;
    if (shipped) {
      byId("mechanism").selectedIndex = 0;
      this.#suitPolicy();
    }
  }

  #markPreset() {
    const exact = byId("epsilon").value.trim() !== "";
    for (const radio of document.querySelectorAll("[name=preset]")) {
      radio.checked = !exact && Number(byId("slider").value) === 100 * PRESETS[radio.value];
    }
  }

  /** The share of words that are drawn as they were, which the chart is about. */
  get position() {
    return this.#drawnKeep ?? this.#slider;
  }

  get #slider() {
    return Number(byId("slider").value) / 100;
  }

  get mechanism() {
    return byId("mechanism").value;
  }

  /** Whether what leaves is decoded with context. */
  get context() {
    return document.querySelector("[name=reading]:checked").value === "decoded";
  }

  /** Options for the engine. */
  get options() {
    const epsilon = byId("epsilon").value.trim();
    if (epsilon === "") return this.optionsAt(this.#slider);
    return { ...this.#fixed, epsilon: Number(epsilon), context: this.context };
  }

  // All but the budget and the reading.
  get #fixed() {
    const [, lists] = POLICIES[byId("policy").value];
    return { mechanism: this.mechanism, case: "sentence", ...lists };
  }

  /** Options for a share of words, of those that leave. */
  optionsAt(keep, context = this.context) {
    return { ...this.#fixed, keep, context };
  }

  /** Shows the numbers behind the options. */
  async show(options) {
    const guarantee = await this.#engine.call("guarantee", { options });
    const { epsilon } = guarantee;
    const drawn = options.context ? { ...options, context: false, keep: undefined, epsilon } : options;
    this.#drawnKeep = (await this.#engine.call("guarantee", { options: drawn })).expectedKeep;
    const { help } = this.#engine.choices.mechanism.find(({ name }) => name === options.mechanism);
    byId("mechanism-note").textContent = `${help}.`;
    byId("reading-note").textContent = options.context ? DECODED : DRAWN;
    byId("adjacency").textContent = guarantee.adjacency;
    const stay = guarantee.expectedKeep === null ? null : `about ${percent(guarantee.expectedKeep)}`;
    byId("n-keep").textContent = stay ?? "not known";
    byId("stays-note").textContent = stay ? `At the present setting ${stay} of ${guarantee.keptWords}.` : "";
    byId("policy-note").textContent = await this.#whatChanged(options, guarantee);
    byId("changed-note").textContent = CHANGED[options.mechanism] ?? RANDOM;
    byId("n-epsilon-name").textContent = UNITS[guarantee.metric.split("-")[0]];
    byId("n-epsilon").textContent = short(guarantee.epsilon);
    byId("n-nearest").textContent = short(guarantee.nearest);
    byId("n-bound").textContent = short(guarantee.bound);
    byId("n-worst").textContent = short(guarantee.worstToken);
    byId("slider").setAttribute("aria-valuetext", `about ${byId("slider").value} percent of words stay`);
  }

  // What a choice of private words did to the mechanism and to the loss: neither changes in silence.
  async #whatChanged(options, { worstToken }) {
    const mechanism = this.#before;
    if (mechanism === undefined || mechanism === options.mechanism) return "";
    const all = { ...options, mechanism, public: undefined, private: undefined };
    const before = (await this.#engine.call("guarantee", { options: all })).worstToken;
    return `As not every word is private, the mechanism is now ${options.mechanism} instead of ${mechanism}, and the largest loss of a `
      + `private word ${short(worstToken)}, ${worstToken > before ? "more than" : "where it was"} ${short(before)} with every word private.`;
  }

  /** Shows what a whole text can lose. */
  showTotal(loss) {
    byId("n-total").textContent = loss === 0 ? "0" : `≤ ${short(loss)}`;
  }
}
