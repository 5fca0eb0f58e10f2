// Runs the oracle module: node run.mjs MODULE.wasm
import { readFile } from "node:fs/promises";

const { instance } = await WebAssembly.instantiate(await readFile(process.argv[2]));
const oracle = instance.exports;

if (oracle.has_simd128() !== 1) throw new Error("built without simd128");
const tables = 480;
const failed = oracle.failures(tables, 1) + oracle.failures_when_large(2);
console.log(`simd128: ${failed} of ${tables + 1} tables differ from the oracle`);

const time = (count, simd) => {
  let best = Infinity;
  for (let i = 0; i < 5; i++) {
    const start = performance.now();
    oracle.scan(20000, count, simd);
    best = Math.min(best, performance.now() - start);
  }
  return best;
};
// The difference leaves out the making of the table.
const cost = (simd) => time(1056, simd) - time(32, simd);
console.log(`simd128 is ${(cost(0) / cost(1)).toFixed(1)} times faster than scalar here`);
process.exit(failed === 0 ? 0 : 1);
