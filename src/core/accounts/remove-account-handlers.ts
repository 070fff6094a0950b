import { sql } from "kysely";
import type { Engine } from "../../engine/engine.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { Handlers } from "../../platform/http/handler.ts";
import { type AuditActor, recordAudit } from "../audit/audit.ts";
import { announceRemoval, markInstanceRemoved, type RemovedInstance } from "../instances/instances.ts";
import type { AccessControl } from "./access/authorise.ts";
import { findAndLockAccount, noAccount } from "./account-row.ts";
import type { accountsContract } from "./contract.ts";

export interface RemoveAccountDeps {
  db: Db;
  engine: Pick<Engine, "wake" | "publish" | "subscribe">;
  access: Pick<AccessControl, "invalidateSignIns" | "invalidateApiKeys">;
}

/** Scope of an account's removal in the erasure log. */
export const ACCOUNT_REMOVAL_SCOPE = "removal";

export function removeAccountHandlers(
  deps: RemoveAccountDeps,
): Pick<Handlers<typeof accountsContract>, "removeAccount"> {
  return {
    async removeAccount({ input: { id }, ...by }) {
      const removed = await deps.db.transaction().execute(async (trx) => {
        await requireRemovable(trx, id);
        await trx
          .insertInto("erasure_log")
          .values({ account_id: id, scope: ACCOUNT_REMOVAL_SCOPE, subject: "{}" })
          .execute();
        return hideAccount(trx, id, by);
      });
      announce(deps, removed);
      return { id, instances: removed.instances.length };
    },
  };
}

/** Repeats the removal of an account that a restore brought back. */
export async function repeatAccountRemoval(
  { db, engine }: Pick<RemoveAccountDeps, "db" | "engine">,
  id: number,
): Promise<void> {
  const removed = await db.transaction().execute(async (trx) => {
    const account = await findAndLockAccount(trx, id, { removal: true });
    return account ? hideAccount(trx, id, { caller: { kind: "system" } }) : undefined;
  });
  // No node has cached keys or sign-ins from before the restore.
  for (const instance of removed?.instances ?? [])
    announceRemoval({ engine, invalidateApiKeys() {} }, instance);
}

async function requireRemovable(trx: Trx, id: number): Promise<void> {
  const account = await findAndLockAccount(trx, id, { removal: true });
  if (!account) throw noAccount();
  if (account.account_type === "owner")
    throw new GatewayError("CONFLICT", "The account of the gateway's owner cannot be removed.");
  const { customers } = await trx
    .selectFrom("account")
    .select(({ fn }) => fn.countAll<number>().as("customers"))
    .where("parent_id", "=", id)
    .where("removed_at", "is", null)
    .executeTakeFirstOrThrow();
  if (Number(customers) === 0) return;
  throw new GatewayError(
    "CONFLICT",
    `The account has ${customers} customers. Remove them first, or change their parent_id.`,
    { details: { customers: Number(customers) } },
  );
}

interface HiddenAccount {
  instances: RemovedInstance[];
  signIns: string[];
}

/** Sign-ins, keys and sends end with the commit; a later job deletes the data. */
async function hideAccount(trx: Trx, id: number, by: AuditActor): Promise<HiddenAccount> {
  const found = await trx
    .selectFrom("instance")
    .select("id")
    .where("account_id", "=", id)
    .where("removed_at", "is", null)
    .orderBy("id")
    .execute();
  const instances: RemovedInstance[] = [];
  for (const instance of found)
    instances.push(await markInstanceRemoved(trx, instance.id, { by, end_descendants: false }));
  const signIns = await sql<{ id: string }>`
    select s.id from sign_in s join account_user u on u.id = s.user_id where u.account_id = ${id}`.execute(
    trx,
  );
  await trx.deleteFrom("account_user").where("account_id", "=", id).execute();
  await trx
    .updateTable("account")
    .set({ status: "cancelled", suspended_by_owner: true, removed_at: sql<Date>`now()` })
    .where("id", "=", id)
    .execute();
  const target = { type: "account", id };
  await recordAudit(trx, { by, action: "account.delete", target, account_id: id });
  return { instances, signIns: signIns.rows.map((row) => row.id) };
}

function announce({ engine, access }: RemoveAccountDeps, { instances, signIns }: HiddenAccount): void {
  access.invalidateSignIns(signIns);
  const { invalidateApiKeys } = access;
  for (const instance of instances) announceRemoval({ engine, invalidateApiKeys }, instance);
}
