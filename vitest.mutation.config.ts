import { defineConfig } from "vitest/config";
import { AREA_VARIABLE, AREAS, testsOf } from "./test/mutation/areas.ts";
import { LoadErrorReporter } from "./test/mutation/load-error-reporter.ts";

const area = AREAS[process.env[AREA_VARIABLE] ?? ""];
if (!area) throw new Error(`Set ${AREA_VARIABLE} to one of: ${Object.keys(AREAS).join(", ")}.`);

export default defineConfig({
  test: {
    env: { NODE_ENV: "test" },
    include: testsOf(area),
    globalSetup: area.hasDatabase ? ["test/mutation/global-setup.ts"] : [],
    reporters: [new LoadErrorReporter()],
    restoreMocks: true,
    unstubEnvs: true,
    // A mutant that breaks a wait is noticed when the wait gives up.
    testTimeout: 20_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 3_000, interval: 20 } },
  },
});
