import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { packageRoot } from "../../src/platform/package-version.ts";
import { createE2eStory, type E2eStory } from "../e2e/e2e-story.ts";
import { makeScratchDir } from "../run/scratch-dir.ts";

export interface LoopFigures {
  /** Active event loop time since the start. */
  active_ms: number;
  /** Longest delay since the last reading. */
  longest_ms: number;
  rss_mb: number;
}

export interface ProbedGateway {
  readonly story: E2eStory;
  readonly url: string;
  read(): Promise<LoopFigures>;
  end(): Promise<void>;
}

const PROBE = join(packageRoot(), "test/security/loop-probe.mjs");

/** A gateway process that reports its event loop. Outside of a test run, pass the database server. */
export async function startProbedGateway(
  env: Record<string, string> = {},
  server?: string,
): Promise<ProbedGateway> {
  const { path, remove } = await makeScratchDir("waygate-probe-");
  const file = join(path, "port");
  const story = await createE2eStory(
    { NODE_OPTIONS: `--import=${pathToFileURL(PROBE)}`, LOOP_PROBE_FILE: file, ...env },
    server,
  );
  const { url } = await story.start();
  const port = Number(await readFile(file, "utf8"));
  return {
    story,
    url,
    read: async () => JSON.parse(await text(connect({ host: "127.0.0.1", port }))) as LoopFigures,
    async end() {
      await story.end();
      await remove();
    },
  };
}
