import { resolve } from "node:path";
import { type Config, type Env, readConfig } from "../../platform/config/config.ts";
import { openDataDir } from "../../platform/config/data-dir.ts";
import { type Database, openDatabase } from "../../platform/db/database.ts";
import { findPendingMigrations } from "../../platform/db/find-pending-migrations.ts";
import { findRunningDatabase } from "../../platform/embedded-postgres/embedded-postgres.ts";
import { createLog } from "../../platform/log/log.ts";
import type { SecretBox } from "../../platform/secrets/secret-box.ts";
import { CleanupStack } from "../../processes/cleanup-stack.ts";
import { openDatabases, openSecrets } from "../../processes/open-databases.ts";
import { rethrowAsStartError, StartError, throwDatabaseStartError } from "../../processes/start-error.ts";

/** The actor of a command's changes in the audit log. */
export const COMMAND_ACTOR = { caller: { kind: "system" } } as const;

/** What a command works on: the gateway's database, while the gateway may be running. */
export interface CommandContext {
  config: Config;
  database: Database;
  box: SecretBox;
}

/** Opens the gateway's database for a command, and starts it if it is not running. Throws StartError. */
export async function withCommandContext<Result>(
  env: Env,
  work: (store: CommandContext) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(env);
  const undo = new CleanupStack();
  try {
    const { database, description } = await openCommandDatabase(config, undo);
    const pending = await findPendingMigrations(database.db).catch((error: unknown) =>
      throwDatabaseStartError(error, description),
    );
    if (pending.length > 0) {
      throw new StartError(
        `${description} lacks migrations of this version. Start the gateway once to apply them.`,
      );
    }
    const { box } = await openSecrets(config, resolve(config.dataDir), database.db);
    return await work({ config, database, box });
  } finally {
    await undo.run();
  }
}

/** The gateway's database: the running one, or one started for the command. Throws StartError. */
export async function openCommandDatabase(
  config: Config,
  undo: CleanupStack,
): Promise<{ database: Database; description: string }> {
  const running = config.databaseUrl
    ? undefined
    : await findRunningDatabase(config.dataDir).catch(() => undefined);
  if (running) {
    const database = openDatabase(running, { max: 2, application_name: "waygate command" });
    undo.add(() => database.close());
    return { database, description: "The database of the running gateway" };
  }
  if (config.databaseUrl) return openDatabases(config, "", createLog("silent"), undo);
  const dataDir = await openDataDir(config.dataDir).catch(rethrowAsStartError);
  undo.add(() => dataDir.release());
  return openDatabases(config, dataDir.path, createLog("silent"), undo);
}
