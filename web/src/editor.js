// The text box and the private text beside it.

const byId = (id) => document.getElementById(id);

// Beyond this many words they are shown as plain text: a button each would be
// slow to lay out.
const MOST_BUTTONS = 3000;

// What each button stands for.
const partOf = new WeakMap();

/** A word of the output, as a button. */
function wordButton(part) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "w";
  button.textContent = part.text;
  button.tabIndex = -1;
  if (part.changed) button.classList.add("changed");
  if (!part.known) button.classList.add("unknown");
  if (part.public) button.classList.add("public");
  button.setAttribute("aria-label", part.changed ? `${part.text}, changed` : part.text);
  partOf.set(button, part);
  return button;
}

/** Shows a trace, and lets words be chosen with mouse or arrow keys. */
export class Output {
  #box = byId("output");
  #text = "";

  constructor(choose) {
    this.#box.addEventListener("click", ({ target }) => {
      const button = target.closest(".w");
      if (button) choose(partOf.get(button));
    });
    this.#box.addEventListener("keydown", (event) => this.#move(event));
  }

  /** The private text. */
  get text() {
    return this.#text;
  }

  show(trace) {
    this.#text = trace.text;
    const words = trace.parts.filter((part) => part.original !== undefined);
    const changed = words.filter((part) => part.changed).length;
    const say = byId("status");
    say.textContent = words.length ? `${changed} of ${words.length} words changed (marked).` : "";
    if (words.length > MOST_BUTTONS) {
      this.#box.textContent = trace.text;
      return;
    }
    const nodes = trace.parts.map((part) =>
      part.original === undefined ? document.createTextNode(part.text) : wordButton(part));
    this.#box.replaceChildren(...nodes);
    const first = this.#box.querySelector(".w");
    if (first) first.tabIndex = 0;
  }

  // One tab stop for all words; arrow keys go from word to word.
  #move(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const words = [...this.#box.querySelectorAll(".w")];
    const here = words.indexOf(document.activeElement);
    if (!step || here < 0) return;
    event.preventDefault();
    const next = words[Math.min(Math.max(here + step, 0), words.length - 1)];
    words[here].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}

/** Offers a text as a file, without a request. */
export function save(text, name, link = document.createElement("a")) {
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  link.download = name;
  return link;
}
