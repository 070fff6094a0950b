import { availableParallelism } from "node:os";
import { defineConfig, type UserWorkspaceConfig } from "vitest/config";
import { WaitingFirstSequencer } from "./test/run/waiting-first-sequencer.ts";

const EVERY_FILE: UserWorkspaceConfig["test"] = {
  env: { NODE_ENV: "test" },
  setupFiles: ["test/run/equal-bytes.ts"],
  pool: "forks",
  // Processes start and end by the dozen in some files, on a machine that may be busy.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000, interval: 20 } },
  // Spies and variables end with their test: the next file may run in the same process.
  restoreMocks: true,
  unstubEnvs: true,
};

const filesOf = (kind: string) => `{src,packages,panel,test}/**/*.${kind}.test.ts`;

/** Projects by the end of a file's name. Every other file belongs to `shared`, or to `extensions` by its folder. */
const NAMED = ["unit", "isolated", "gate", "pages", "release"];

const EXTENSIONS = "src/extensions/**/*.test.ts";

/** Files that share a process with others and use the database. */
const sharing = (name: string, include: string, others: string[]): UserWorkspaceConfig => ({
  test: {
    ...EVERY_FILE,
    name,
    setupFiles: ["test/run/equal-bytes.ts", "test/run/fast-settings.ts"],
    include: [include],
    // Real products, which `npm run integrations` installs.
    exclude: [...NAMED.map(filesOf), "test/integrations/**", ...others],
    isolate: false,
  },
});

/** A sequencer of its own would win over `--sequence.shuffle.files`. */
const isShuffled = process.argv.some((option) => option.startsWith("--sequence.shuffle"));

export default defineConfig({
  test: {
    // Once for all projects: each asks the root for what is provided.
    globalSetup: ["test/run/global-setup.ts"],
    sequence: isShuffled ? {} : { sequencer: WaitingFirstSequencer },
    // A test waits for a database, a process or a clock for half of its time.
    maxWorkers: Math.max(4, availableParallelism()),
    teardownTimeout: 20_000,
    projects: [
      ...NAMED.map((name) => ({
        test: { ...EVERY_FILE, name, include: [filesOf(name)], isolate: name !== "unit" },
      })),
      sharing("shared", "{src,packages,panel,test}/**/*.test.ts", [EXTENSIONS]),
      sharing("extensions", EXTENSIONS, []),
    ],
  },
});
