// The switch for the language: the model that came with the page, or one of the user's, from a file. A file is read in
// the page; nothing is fetched.

const byId = (id) => document.getElementById(id);
const LARGEST = 1 << 30;

/** The select and its file; `changed` is called when another model is in use. */
export class LanguageSwitch {
  #engine;
  #changed;

  constructor(engine, changed) {
    this.#engine = engine;
    this.#changed = changed;
    const [select, file] = [byId("language"), byId("model-file")];
    select.addEventListener("change", () => {
      if (select.value === "file") file.click();
      else this.#use(undefined);
    });
    // Nothing was chosen: the model is still the one that it was.
    file.addEventListener("cancel", () => this.#show());
    file.addEventListener("change", () => {
      const [picked] = file.files;
      if (picked) this.#use(picked);
      file.value = "";
    });
    this.#show();
  }

  async #use(picked) {
    try {
      if (picked && picked.size > LARGEST) throw new Error("the model file has more than 1 GB");
      await this.#engine.use(picked && await picked.arrayBuffer());
      this.#show();
      await this.#changed();
    } catch (error) {
      this.#show();
      await this.#changed(error);
    }
  }

  // The model in use, by name.
  #show() {
    const { language, meta } = this.#engine.model;
    const select = byId("language");
    select.querySelector("[value=picked]")?.remove();
    if (isShipped(this.#engine.model)) {
      select.value = "shipped";
      byId("language-note").textContent = "";
      return;
    }
    const name = [language.name, meta.name].filter(Boolean).join(": ");
    select.prepend(Object.assign(document.createElement("option"), { value: "picked", textContent: name }));
    select.value = "picked";
    byId("language-note").textContent = "Your model file was not checked here: what holds for any codes is promised. "
      + "There is no language model for it, so words are written as drawn.";
  }
}

/** Whether a model is the one that came with the page. */
export const isShipped = (model) => model.standing === "pinned";
