import { defineConfig, type UserWorkspaceConfig } from "vitest/config";
import { FailedFilesReporter } from "./test/failed-files-reporter.ts";
import { LongFirstSequencer } from "./test/long-first-sequencer.ts";
import { sortByProcess } from "./test/test-processes.ts";

const { apart, together } = sortByProcess();

const EVERY_FILE: UserWorkspaceConfig["test"] = {
  env: { NODE_ENV: "test" },
  pool: "forks",
  // Processes start and end by the dozen in some files, on a machine that may be busy.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000, interval: 20 } },
};

export default defineConfig({
  test: {
    // Once for both projects: each asks the root for what is provided.
    globalSetup: ["test/global-setup.ts"],
    reporters: ["default", new FailedFilesReporter()],
    sequence: { sequencer: LongFirstSequencer },
    maxWorkers: 3,
    teardownTimeout: 20_000,
    projects: [
      { test: { ...EVERY_FILE, name: "apart", include: apart } },
      { test: { ...EVERY_FILE, name: "together", include: together, isolate: false } },
    ],
  },
});
