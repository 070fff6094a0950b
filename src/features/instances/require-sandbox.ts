import type { Db } from "../../platform/db.ts";
import { GatewayError } from "../../platform/errors.ts";

/** Who may use the sandbox network: every account, the account of the gateway's owner alone, or nobody. */
export type SandboxUse = "on" | "owner" | "off";

export interface SandboxPolicy {
  db: Db;
  sandbox: SandboxUse;
}

/** Throws FORBIDDEN for an account that may not use the sandbox network. */
export async function requireSandbox({ db, sandbox }: SandboxPolicy, account_id: number): Promise<void> {
  if (sandbox === "on" || (sandbox === "owner" && (await isOwner(db, account_id)))) return;
  throw new GatewayError(
    "FORBIDDEN",
    "The sandbox network is switched off for this account. Create the instance with network whatsapp, or ask the operator of this gateway to allow the sandbox (WAYGATE_SANDBOX).",
    { details: { network: "sandbox" } },
  );
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
