import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/** One file a line; absent after a run that passed, or in which nothing but an error that came from no file failed. */
const FAILED_FILES = "test-artifacts/failed-files";

/** Writes down which test files failed, for CI to try each once more. */
export class FailedFilesReporter implements Reporter {
  async onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): Promise<void> {
    await rm(FAILED_FILES, { force: true });
    // A file whose process died is not failed, but queued or pending for ever.
    const failed = modules.filter((module) => !["passed", "skipped"].includes(module.state()));
    const astray = unhandled.flatMap((error) => (error.VITEST_TEST_PATH as string | undefined) ?? []);
    const files = new Set([...failed.map((module) => module.moduleId), ...astray]);
    if (files.size === 0) return;
    await mkdir(dirname(FAILED_FILES), { recursive: true });
    await writeFile(FAILED_FILES, [...files, ""].join("\n"));
  }
}
