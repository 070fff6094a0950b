import { makeScratchDir } from "../run/scratch-dir.ts";
import { startTestPostgres } from "../run/test-postgres.ts";
import type { ChaosRow } from "./chaos-row.ts";
import { runRound } from "./chaos-row.ts";
import { assignAddresses } from "./isolated-network.ts";
import { insideF12 } from "./rows/f12-metadata-server.ts";
import { insideF13, insideF14 } from "./rows/f13-redirects.ts";

// `unshare --net --mount node isolated-network-main.js <row> <seed> <round>`: runs one round and prints its figures as JSON.
const [id, seed = "", number] = process.argv.slice(2);
const row: ChaosRow | undefined = [insideF12, insideF13, insideF14].find((one) => one.id === id);
if (!row) throw new Error(`no row ${id} runs in an isolated network`);
const { path, remove } = await makeScratchDir("waygate-isolated-");
assignAddresses(path);
const postgres = await startTestPostgres();
try {
  const figures = await runRound(row, { number: Number(number), seed, databaseUrl: postgres.url });
  console.log(JSON.stringify(figures));
} finally {
  await postgres.stop();
  await remove();
}
process.exit(0);
