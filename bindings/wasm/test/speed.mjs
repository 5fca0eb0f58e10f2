// Words per second (of processor time) in Node, as
// bindings/c/examples/native_speed.rs measures natively: node speed.mjs [rounds]
import { readFile } from "node:fs/promises";
import { Brr } from "../dist/brr.js";

const text = await readFile(new URL("review.txt", import.meta.url), "utf8");
const rounds = Number(process.argv[2] ?? 5);
for (const simd of [true, false]) {
  const brr = await Brr.load(undefined, { simd });
  let best = 0;
  for (let round = 0; round < rounds; round++) {
    const start = process.cpuUsage().user;
    let words = 0;
    for (let i = 0; i < (simd ? 20 : 5); i++) words += brr.privatize(text, { mechanism: "brr" }).tokens;
    best = Math.max(best, (1e6 * words) / (process.cpuUsage().user - start));
  }
  console.log(`${brr.model.backend} ${best.toFixed(0)}`);
}
