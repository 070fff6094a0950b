import { describeMachine } from "../run/process-figures.ts";
import { startTestPostgres } from "../run/test-postgres.ts";
import { measureHeldConnections } from "./held-connections.ts";
import { measureLargeResponses } from "./large-responses.ts";
import { timeStrangers } from "./stopwatch.ts";

type Measurement = (server: string) => Promise<object>;

const MEASUREMENTS: Readonly<Record<string, Measurement>> = {
  "held-connections": (server) => measureHeldConnections({ connections: 1_000, probes: 200, server }),
  "large-answers": (server) => measureLargeResponses({ downloads: 20, fileBytes: 50 * 1024 * 1024, server }),
  strangers: (server) => timeStrangers(server),
};

const [named] = process.argv.slice(2);
if (named !== undefined && !Object.hasOwn(MEASUREMENTS, named)) {
  throw new Error(`There is no measurement ${named}; there are ${Object.keys(MEASUREMENTS).join(", ")}`);
}
const postgres = await startTestPostgres();
try {
  console.log(describeMachine());
  for (const [name, measure] of Object.entries(MEASUREMENTS)) {
    if (named === undefined || named === name) console.log(name, await measure(postgres.url));
  }
} finally {
  await postgres.stop();
}
