import { execFileSync, spawn } from "node:child_process";
import { cpus } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { WaygateError } from "../../../src/client/client.ts";
import { packageRoot } from "../../../src/platform/package-version.ts";
import type { E2eStory, PairedInstance } from "../../e2e/e2e-story.ts";
import type { ClientSend } from "../../e2e/ledgers.ts";
import {
  type AcknowledgedSend,
  type PlannedSend,
  planSends,
  readStoryLedgers,
  sendAll,
  sendOnce,
  toClientSends,
  toRefused,
} from "../../e2e/send-history.ts";
import type { ChaosRow } from "../chaos-row.ts";
import { atMost, IN_FLIGHT, toRoundFigures } from "../report.ts";

const SENDS = 60;
const HEAP_MIB = 128;
const FILES = 64;
const NEIGHBOUR_MS = 5_000;
const MOST_REQUESTS = 8;
const FLOOD = 400;
const STARVE = join(packageRoot(), "dist/test/chaos/starve.js");

/** F20: a blocked event loop, a small heap, few file descriptors, a busy neighbour, and a request flood. */
export const f20: ChaosRow = {
  id: "F20",
  fault: "starved process",
  async run(round) {
    const story = await round.story({
      NODE_OPTIONS: `--import file://${STARVE} --max-old-space-size=${HEAP_MIB}`,
      WAYGATE_MAX_REQUESTS: String(MOST_REQUESTS),
      WAYGATE_MAX_LAG: "1s",
    });
    const { pid } = await story.start();
    const instance = await story.pair();
    const epochs = await story.laneEpochs();
    const sends: AcknowledgedSend[] = [];
    const during = async (name: string, starve: () => Promise<unknown>): Promise<void> => {
      const [taken] = await Promise.all([sendAll(story, instance, planSends(name, SENDS, 6)), starve()]);
      sends.push(...taken);
    };
    await during("blocked", async () => process.kill(pid, "SIGUSR2"));
    await during("few-files", () => limitFiles(pid));
    await during("neighbour", takeProcessors);
    const flood = await floodWith(story, instance);
    const isSame = (await story.laneEpochs()) === epochs;
    const ledgers = await readStoryLedgers(story, {
      sends: [...toClientSends(sends), ...toClientSends(flood.accepted), ...flood.refused],
    });
    const figures = toRoundFigures(ledgers, { ...IN_FLIGHT, kills: 0 });
    return {
      ...figures,
      measured: {
        "flood of requests": `${FLOOD}, taken ${flood.accepted.length}, refused with 503 and Retry-After ${flood.refused.length}`,
        "lanes that changed hands": isSame ? 0 : "some",
      },
      breaches: [
        ...figures.breaches,
        ...(isSame ? [] : ["lanes were lost"]),
        ...atMost(0, "refusals without Retry-After", flood.silent),
        ...(flood.refused.length === 0 ? ["the flood was not refused"] : []),
      ],
    };
  },
};

/** Limits the open files for a while, which also blocks connections. */
async function limitFiles(pid: number): Promise<void> {
  const limit = (soft: string) => execFileSync("prlimit", ["--pid", String(pid), `--nofile=${soft}:`]);
  const before = execFileSync("prlimit", ["--pid", String(pid), "--nofile", "--output=SOFT", "--noheadings"]);
  limit(String(FILES));
  await delay(NEIGHBOUR_MS);
  limit(before.toString().trim());
}

async function takeProcessors(): Promise<void> {
  const neighbours = cpus().flatMap(() => [0, 1].map(() => spawn(process.execPath, ["-e", "for (;;);"])));
  await delay(NEIGHBOUR_MS);
  for (const neighbour of neighbours) neighbour.kill("SIGKILL");
}

interface Flood {
  accepted: AcknowledgedSend[];
  refused: ClientSend[];
  /** Refusals without Retry-After. */
  silent: number;
}

/** Sends all at once without retries. */
async function floodWith(story: E2eStory, instance: PairedInstance): Promise<Flood> {
  const flood: Flood = { accepted: [], refused: [], silent: 0 };
  const ask = async (planned: PlannedSend): Promise<void> => {
    try {
      flood.accepted.push(await sendOnce(story, instance, planned));
    } catch (error) {
      if (!(error instanceof WaygateError) || error.status !== 503) throw error;
      flood.refused.push(toRefused(planned));
      if (error.retryAfterSeconds === undefined) flood.silent += 1;
    }
  };
  await Promise.all(planSends("flood", FLOOD, FLOOD).map(ask));
  flood.accepted.sort((a, b) => a.id - b.id);
  return flood;
}
