import { pino } from "pino";
import { openDataDir } from "../../src/platform/config/data-dir.ts";
import { startEmbeddedPostgres } from "../../src/platform/embedded-postgres/embedded-postgres.ts";

// Runs only a gateway's database: `node postgres-owner.js <data dir> [<settings as JSON>]`.
const [dataDir = "", settings = "{}"] = process.argv.slice(2);
const held = await openDataDir(dataDir);
const log = pino({ level: "silent" });
const postgres = await startEmbeddedPostgres({ dataDir: held.path, log, settings: JSON.parse(settings) });

const staying = setInterval(() => {}, 60_000);
const leave = async (): Promise<void> => {
  clearInterval(staying);
  await postgres.stop();
  await held.release();
};
process.once("SIGTERM", () => void leave()).once("SIGINT", () => void leave());
// Printed last, because the reader may send a signal immediately.
const { url, socketUrl, wasAlreadyRunning } = postgres;
process.stdout.write(`${JSON.stringify({ url, socketUrl, wasAlreadyRunning })}\n`);
