import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../../src/platform/config/package-version.ts";
import type { ChaosRow, RoundFigures } from "./chaos-row.ts";

const PROGRAM = join(packageRoot(), "dist/test/chaos/sealed-main.js");
const WITHIN_MS = 240_000;

/** The row as it runs in a network of its own, where any address can be had and nothing leads outside. */
export function inSealedNetwork({ id, fault }: Pick<ChaosRow, "id" | "fault">): ChaosRow {
  return {
    id,
    fault,
    needs: ["root", "mount", "netns"],
    async run({ number, random }): Promise<RoundFigures> {
      const seed = String(random.next());
      const command = ["--net", "--mount", process.execPath, PROGRAM, id, seed, String(number)];
      const { stdout } = await promisify(execFile)("unshare", command, { timeout: WITHIN_MS });
      return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
    },
  };
}
