// brr in Node: brr.js, and models and modules from files. Bundlers for browsers never come
// here: package.json has a condition for Node.
import { readFile } from "node:fs/promises";
import { Brr as Portable, BrrError } from "./brr.js";

export { BrrError, hasSimd, Restorer, Session } from "./brr.js";

async function readBytes(source, what) {
  try {
    return await readFile(/^file:/i.test(source) ? new URL(source) : source);
  } catch (cause) {
    throw new BrrError("file", `cannot read the ${what} ${source}: ${cause.code ?? "not a file"}`, { cause });
  }
}

/** A loaded model, ready to privatize. */
export class Brr extends Portable {
  /** As in brr.js; what is not fetched is the path or the `file:` URL of a file. */
  static load(model, options) {
    return Portable.load.call(Brr, model, options, readBytes);
  }
}
