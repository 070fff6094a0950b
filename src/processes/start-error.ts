import { isDatabaseUnavailable } from "../platform/db/database.ts";
import { UnsupportedDatabaseError } from "../platform/db/unsupported-database-error.ts";
import { GatewayError } from "../platform/gateway-error.ts";

/** Why the gateway cannot start, for the operator; shown without a stack. */
export class StartError extends Error {
  override readonly name = "StartError";
}

/** Rethrows an error whose message is meant for the operator. */
export function rethrowAsStartError(error: unknown): never {
  throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
}

/**
 * PostgreSQL rejects the login or lacks something: 28... sign-in, 3D000 database, 42501 rights, 53300
 * connections, 57P03 starting.
 */
const REFUSALS = /^(28\w{3}|3D000|42501|53300|57P03)$/;

/** Reports why the database (described in `database`) cannot be used, unless the cause is a bug. */
export function throwDatabaseStartError(error: unknown, database: string): never {
  const { code = "", message } = error as { code?: string; message: string };
  if (REFUSALS.test(code))
    throw new StartError(`${database} refused the connection: ${message} (${code}).`, { cause: error });
  if (isDatabaseUnavailable(error)) {
    const reason = code || message;
    throw new StartError(
      `${database} cannot be reached (${reason}). Is it running, and is DATABASE_URL right?`,
      {
        cause: error,
      },
    );
  }
  if (error instanceof UnsupportedDatabaseError) rethrowAsStartError(error);
  throw error;
}

/** Reports why the gateway cannot listen on this address and port. */
export function throwListenError(error: unknown, host: string, port: number): never {
  const { code = "" } = error as { code?: string };
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is in use by another program. Stop it, or set WAYGATE_PORT.`,
    EACCES: `Port ${port} is not for this user. Set WAYGATE_PORT to 1024 or more.`,
    EADDRNOTAVAIL: `This machine has no address ${host}. Check WAYGATE_HOST.`,
    ENOTFOUND: `The name ${host} is not known. Check WAYGATE_HOST.`,
  };
  throw code in reasons ? new StartError(reasons[code], { cause: error }) : error;
}

/** Rethrows an error about a setting. */
export function throwSettingError(error: unknown): never {
  if (error instanceof GatewayError) rethrowAsStartError(error);
  throw error;
}
