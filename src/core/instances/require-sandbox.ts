import type { Db } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";

/** Who may use the sandbox network: every account, only the gateway owner's account, or no account. */
export type SandboxUse = "on" | "owner" | "off";

export interface SandboxPolicy {
  db: Db;
  sandbox: SandboxUse;
}

/** Reason of the status `error` for an instance whose account may not use the sandbox network. */
export const SANDBOX_NOT_ALLOWED = "sandbox_not_allowed";

export const SANDBOX_OFF =
  "The sandbox network is disabled for this account. Create the instance with network whatsapp, or ask the operator of this gateway to allow the sandbox (WAYGATE_SANDBOX).";

export async function mayUseSandbox({ db, sandbox }: SandboxPolicy, account_id: number): Promise<boolean> {
  return sandbox === "on" || (sandbox === "owner" && (await isOwner(db, account_id)));
}

/** Throws FORBIDDEN for an account that may not use the sandbox network. */
export async function requireSandbox(policy: SandboxPolicy, account_id: number): Promise<void> {
  if (!(await mayUseSandbox(policy, account_id))) throw sandboxOff();
}

export function sandboxOff(): GatewayError {
  return new GatewayError("FORBIDDEN", SANDBOX_OFF, { details: { network: "sandbox" } });
}

async function isOwner(db: Db, account_id: number): Promise<boolean> {
  const owner = await db
    .selectFrom("account")
    .select("id")
    .where("id", "=", account_id)
    .where("account_type", "=", "owner")
    .executeTakeFirst();
  return owner !== undefined;
}
