// Not run, only type-checked: the API as its users write it.
import { Brr, BrrError, type Guarantee, type Outcomes, type Part, type Session } from "../dist/brr.js";

export async function use(bytes: Uint8Array): Promise<string> {
  const brr: Brr = await Brr.load(bytes, { simd: false });
  const guarantee: Guarantee = brr.guarantee({ mechanism: "exponential", bound: 16 });
  const explained: Outcomes = brr.outcomes("film", { epsilon: 0.5, draws: 100, search: "multi-index" });
  const stays: number = explained.stays.probability + guarantee.unknownLoss;
  const neighbours: string = guarantee.adjacency + brr.model.standing + brr.choices.mechanism[0].help;
  const { parts, loss } = brr.trace("a text", { keep: 0.5, layout: "words", unknown: "mask" });
  const originals = parts.filter((part: Part) => part.original !== undefined && part.changed);
  const reading: Brr = await Brr.load(undefined, { language: true });
  reading.privatize("a text", { context: true });
  const session: Session = reading.session({ numbers: { low: 0, high: 9, scale: 1 }, lists: { few: ["red"] } });
  const marked = session.privatizeSpans("John", [{ start: 0, end: 4, list: "few" }]);
  const restorer = session.restorer();
  session.restore(restorer.push(marked.text) + restorer.finish()).text.slice(marked.spans[0].end);
  reading.session({}, session.export()).free();
  // @ts-expect-error there is no such option
  brr.privatize("a text", { seed: 1 });
  // @ts-expect-error there is no such mechanism
  brr.privatize("a text", { mechanism: "none" });
  if (originals.length + stays + loss + neighbours.length < 0) throw new BrrError("internal", "never");
  return brr.privatizeBatch(["a", "b"]).texts.join(brr.model.backend);
}
