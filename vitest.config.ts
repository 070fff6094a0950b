import { availableParallelism } from "node:os";
import { defineConfig, type UserWorkspaceConfig } from "vitest/config";
import { LongFirstSequencer } from "./test/long-first-sequencer.ts";

const EVERY_FILE: UserWorkspaceConfig["test"] = {
  env: { NODE_ENV: "test" },
  pool: "forks",
  // Processes start and end by the dozen in some files, on a machine that may be busy.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000, interval: 20 } },
  // Spies and variables end with their test: the next file may run in the same process.
  restoreMocks: true,
  unstubEnvs: true,
  setupFiles: process.env.RECORD_RESPONSES ? ["test/record-responses.ts"] : [],
};

const UNIT = "{src,packages,panel}/**/*.unit.test.ts";
const LONG = "{src,packages,panel,test}/**/*.long.test.ts";
/** Each of these files has a process of its own: it changes the process, or needs what others change in it. */
const ISOLATED = "{src,packages,panel,test}/**/*.isolated.test.ts";

/** A sequencer of its own would win over `--sequence.shuffle.files`. */
const isShuffled = process.argv.some((option) => option.startsWith("--sequence.shuffle"));

export default defineConfig({
  test: {
    // Once for all projects: each asks the root for what is provided.
    globalSetup: ["test/global-setup.ts"],
    sequence: isShuffled ? {} : { sequencer: LongFirstSequencer },
    // A test waits for a database, a process or a clock for half of its time.
    maxWorkers: Math.max(4, availableParallelism()),
    teardownTimeout: 20_000,
    projects: [
      { test: { ...EVERY_FILE, name: "unit", include: [UNIT], isolate: false } },
      {
        test: {
          ...EVERY_FILE,
          name: "shared",
          include: ["{src,packages,panel,test}/**/*.test.ts"],
          exclude: [UNIT, LONG, ISOLATED],
          isolate: false,
        },
      },
      { test: { ...EVERY_FILE, name: "isolated", include: [ISOLATED] } },
      { test: { ...EVERY_FILE, name: "long", include: [LONG] } },
    ],
  },
});
