// The thread that sees the text. scripts/build-web puts brr.js in front of
// this file, so that the page can start it from memory, under its own policy
// and with nothing left to load.
import { Brr } from "./brr.js";

let brr;
// The module, and the model that came with the page.
let cameWith;

// Null for a word that the model does not have, of which the page says so in its own words.
function ifKnown(explain) {
  try {
    return explain();
  } catch (error) {
    if (error.code === "input") return null;
    throw error;
  }
}

const methods = {
  async load(files) {
    cameWith = files;
    return methods.use({});
  },
  // A model of the user's, or the one that came with the page. It takes the other's place only if it can be read.
  async use({ model }) {
    const { wasm, language } = cameWith;
    brr = await Brr.load(model ?? cameWith.model, { wasm, language: model ? false : language });
    return { model: brr.model, choices: brr.choices };
  },
  trace: ({ text, options }) => brr.trace(text, options),
  privatizeBatch: ({ texts, options }) => brr.privatizeBatch(texts, options),
  posterior: ({ word, options }) => ifKnown(() => brr.posterior(word, options)),
  outcomes: ({ word, options }) => ifKnown(() => brr.outcomes(word, options)),
  guarantee: ({ options }) => brr.guarantee(options),
  // For the test that tries to get out: what the policy does to a request.
  async probe({ url }) {
    try {
      await fetch(url, { mode: "no-cors" });
      return "sent";
    } catch {
      return "blocked";
    }
  },
};

self.onmessage = async ({ data: { id, method, args } }) => {
  try {
    self.postMessage({ id, result: await methods[method](args) });
  } catch (error) {
    self.postMessage({ id, error: String(error.message ?? error) });
  }
};
