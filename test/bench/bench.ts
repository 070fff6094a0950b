import { cpus, totalmem } from "node:os";
import { benchAccept } from "./accept.ts";
import { benchDeliveries } from "./deliveries.ts";
import { benchMedia } from "./media.ts";
import { benchStart } from "./start.ts";

const BENCHES: Record<string, () => Promise<void>> = {
  start: benchStart,
  accept: benchAccept,
  deliveries: benchDeliveries,
  media: benchMedia,
};

/** Prints the figures of docs/benchmarks.md; with names, only those. */
const wanted = process.argv.slice(2);
const { model = "unknown" } = cpus()[0] ?? {};
console.log(
  `Node ${process.version}, ${cpus().length} x ${model}, ${Math.round(totalmem() / 2 ** 30)} GiB\n`,
);
for (const [name, bench] of Object.entries(BENCHES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`## ${name}`);
  await bench();
  console.log("");
}
