import { writeFileSync } from "node:fs";

/**
 * A reporter that writes skipped tests by reason (the note of `context.skip` or of `skipUnless`) into the file named
 * by WAYGATE_SKIP_REASONS.
 */
// biome-ignore lint/style/noDefaultExport: Vitest loads a reporter by its file
export default class SkipReasons {
  onTestRunEnd(modules) {
    const path = process.env.WAYGATE_SKIP_REASONS;
    if (path === undefined) return;
    const names = {};
    for (const module of modules) {
      for (const test of module.children.allTests("skipped")) {
        const reason = test.result().note ?? test.meta().reason ?? "no reason is given";
        names[reason] = [...(names[reason] ?? []), test.fullName];
      }
    }
    writeFileSync(path, JSON.stringify(names));
  }
}
