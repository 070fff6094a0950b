import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { DemoGateway } from "../../../examples/demo/demo-gateway.ts";
import { type ScratchOwner, scratchSettings } from "../../../examples/demo/scratch-settings.ts";
import type { Env } from "../../platform/config/config.ts";
import { packageRoot } from "../../platform/config/package-version.ts";
import { CommandError } from "../command-error.ts";
import { createScratchData, removeScratchData } from "../scratch-data.ts";

/** A gateway of its own process on a free port, with an empty data directory. */
export interface TemporaryGateway {
  readonly baseUrl: string;
  readonly owner: ScratchOwner;
  readonly dataDir: string;
  /** Stops it, and deletes the data unless they are kept. */
  stop(options: { keep: boolean }): Promise<void>;
}

/** Throws CommandError with the output of a gateway that does not start. */
export async function startTemporaryGateway(env: Env): Promise<TemporaryGateway> {
  const owner = { email: "owner@localhost", password: randomBytes(18).toString("base64url") };
  const dataDir = await createScratchData("waygate-try-");
  const program = join(packageRoot(), "bin", "waygate.mjs");
  const gateway = new DemoGateway(program, scratchSettings(env, dataDir, owner));
  const stop = async ({ keep }: { keep: boolean }): Promise<void> => {
    await gateway.stop();
    if (!keep) await removeScratchData(dataDir, env.PG_BIN_DIR);
  };
  try {
    return { baseUrl: await gateway.start(), owner, dataDir, stop };
  } catch (error) {
    await stop({ keep: false });
    throw new CommandError((error as Error).message, { cause: error });
  }
}
