import { defineConfig } from "vitest/config";
import { FailedFilesReporter } from "./test/failed-files-reporter.ts";
import { LongFirstSequencer } from "./test/long-first-sequencer.ts";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/global-setup.ts"],
    env: { NODE_ENV: "test" },
    reporters: ["default", new FailedFilesReporter()],
    sequence: { sequencer: LongFirstSequencer },
    pool: "forks",
    maxWorkers: 3,
    // Processes start and end by the dozen in some files, on a machine that may be busy.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    teardownTimeout: 20_000,
  },
});
