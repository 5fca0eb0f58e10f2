// A whole file, privatized here: lines of a TXT, or columns of a CSV.

import { parse, separatorOf, write } from "./csv.js";
import { save } from "./editor.js";
import { short } from "./privacy.js";

const byId = (id) => document.getElementById(id);

// Text that goes to the worker at a time: enough to be fast, little enough for
// progress to move and for the text box to stay alive in between.
const BATCH_CHARACTERS = 4000;

/** Texts in batches of about equal length, with where they begin. */
function* batches(texts) {
  let start = 0;
  while (start < texts.length) {
    let [end, size] = [start, 0];
    while (end < texts.length && (end === start || size + texts[end].length <= BATCH_CHARACTERS)) {
      size += texts[end].length;
      end += 1;
    }
    yield [start, texts.slice(start, end)];
    start = end;
  }
}

// The column with the longest texts is the likeliest to be text.
function longest(rows) {
  const body = rows.slice(1, 200);
  const length = (column) => body.reduce((sum, row) => sum + (row[column]?.length ?? 0), 0);
  return rows[0].map((_, column) => column).reduce((best, c) => (length(c) > length(best) ? c : best), 0);
}

export class Files {
  #engine;
  #privacy;
  #file;
  #stopped = false;

  constructor(engine, privacy) {
    this.#engine = engine;
    this.#privacy = privacy;
    const drop = byId("drop");
    for (const type of ["dragenter", "dragover"]) {
      drop.addEventListener(type, (event) => {
        event.preventDefault();
        drop.classList.add("over");
      });
    }
    for (const type of ["dragleave", "drop"]) drop.addEventListener(type, () => drop.classList.remove("over"));
    drop.addEventListener("drop", (event) => {
      event.preventDefault();
      this.#take(event.dataTransfer.files[0]);
    });
    // A file that misses the box must not replace the page.
    for (const type of ["dragover", "drop"]) window.addEventListener(type, (event) => event.preventDefault());
    byId("file").addEventListener("change", ({ target }) => this.#take(target.files[0]));
    byId("file-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#run().catch((error) => this.#say(error.message));
    });
    byId("file-stop").addEventListener("click", () => (this.#stopped = true));
  }

  #say(text) {
    byId("file-status").textContent = text;
  }

  async #take(file) {
    if (!file) return;
    byId("file-save").hidden = true;
    byId("file-form").hidden = true;
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
      this.#file = /\.(csv|tsv)$/i.test(file.name) ? this.#table(file.name, text) : this.#lines(file.name, text);
      byId("file-form").hidden = false;
      this.#say(`${file.name}: ${this.#file.what}.`);
    } catch (error) {
      const why = error instanceof TypeError ? "it is not UTF-8 text" : error.message;
      this.#say(`Cannot use this file: ${why}.`);
    }
  }

  #lines(name, text) {
    byId("columns").hidden = byId("others-row").hidden = true;
    const lines = text.split("\n");
    return {
      name,
      what: `${lines.length.toLocaleString("en")} lines`,
      texts: () => lines,
      join: (texts) => texts.join("\n"),
    };
  }

  #table(name, text) {
    const separator = separatorOf(text);
    const rows = parse(text.replace(/^\ufeff/, ""), separator);
    if (rows.length < 2) throw new Error("it has no rows below its header");
    this.#offerColumns(rows);
    const chosen = () => [...document.querySelectorAll("#columns input:checked")].map((box) => Number(box.value));
    return {
      name,
      what: `${(rows.length - 1).toLocaleString("en")} rows, ${rows[0].length} columns`,
      texts: () => rows.slice(1).flatMap((row) => chosen().map((column) => row[column] ?? "")),
      join: (texts) => this.#rebuild(rows, chosen(), texts, separator),
    };
  }

  #rebuild(rows, chosen, texts, separator) {
    const all = byId("others").checked;
    const columns = rows[0].map((_, column) => column).filter((column) => all || chosen.includes(column));
    const body = rows.slice(1).map((row, i) => columns.map((column) => {
      const place = chosen.indexOf(column);
      return place < 0 ? row[column] ?? "" : texts[i * chosen.length + place];
    }));
    return write([columns.map((column) => rows[0][column]), ...body], separator);
  }

  #offerColumns(rows) {
    const best = longest(rows);
    const labels = rows[0].map((title, column) => {
      const label = document.createElement("label");
      label.className = "check";
      const box = Object.assign(document.createElement("input"), { type: "checkbox", value: column, checked: column === best });
      label.append(box, ` ${title || `column ${column + 1}`}`);
      return label;
    });
    const fieldset = byId("columns");
    fieldset.replaceChildren(fieldset.firstElementChild, ...labels);
    fieldset.hidden = byId("others-row").hidden = false;
    byId("others").checked = false;
  }

  async #run() {
    const texts = this.#file.texts();
    if (texts.length === 0) return this.#say("Choose at least one column.");
    // What an earlier run gave is not this one's: it goes before anything is waited for.
    byId("file-save").hidden = true;
    // A file is analyzed rather than read: words as they are drawn, and as the model spells them.
    const options = { ...this.#privacy.options, case: "plain", context: false };
    const [progress, stop, start] = [byId("progress"), byId("file-stop"), byId("file-start")];
    this.#stopped = false;
    progress.value = 0;
    progress.hidden = stop.hidden = false;
    start.disabled = true;
    const out = [];
    let [tokens, loss] = [0, 0];
    try {
      for (const [begin, batch] of batches(texts)) {
        const done = await this.#engine.call("privatizeBatch", { texts: batch, options });
        out.push(...done.texts);
        tokens += done.tokens;
        loss += done.loss;
        progress.value = (begin + batch.length) / texts.length;
        this.#say(`${tokens.toLocaleString("en")} words…`);
        if (this.#stopped) return this.#say("Stopped. Nothing was kept.");
      }
    } finally {
      start.disabled = false;
      progress.hidden = stop.hidden = true;
    }
    const name = this.#file.name.replace(/(\.\w+)?$/, ".private$1");
    save(this.#file.join(out), name, byId("file-save")).hidden = false;
    this.#say(`Done: ${tokens.toLocaleString("en")} words; the whole file loses at most ${short(loss)}.`);
  }
}
