import { homedir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

const CACHE = process.env.WAYGATE_INTEGRATIONS_CACHE ?? join(homedir(), ".cache", "waygate");

export default defineConfig({
  test: {
    env: { NODE_ENV: "test", WAYGATE_INTEGRATIONS_CACHE: CACHE },
    include: ["test/integrations/*-story.ts", "test/integrations/*.test.ts"],
    globalSetup: ["test/run/global-setup.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 300_000,
    // The first run installs n8n, which takes minutes.
    hookTimeout: 1_800_000,
    disableConsoleIntercept: true,
  },
});
