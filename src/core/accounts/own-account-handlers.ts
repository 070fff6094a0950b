import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import { invalidField } from "../../platform/gateway-error.ts";
import type { Handlers } from "../../platform/http/handler.ts";
import type { InputOf, OutputOf } from "../../platform/http/route.ts";
import { isWithin, type Reach } from "../../platform/reach.ts";
import { fieldNamesOf, recordAudit } from "../audit/audit.ts";
import { requireUser } from "./access/require-user.ts";
import { noAccount } from "./account-row.ts";
import { accountStateSql, storageBytesSql } from "./account-state.ts";
import { type accountsContract, DEFAULT_ACCOUNT_SETTINGS, MAX_STAGES } from "./contract.ts";

/** An account for its own users. */
export function ownAccountHandlers(
  db: Db,
): Pick<Handlers<typeof accountsContract>, "getAccount" | "updateAccount"> {
  return {
    getAccount: ({ caller }) => getOwnAccount(db, requireUser(caller)),

    async updateAccount({ input: { name, settings, ...stages }, ...by }) {
      const user = requireUser(by.caller);
      const { account_id } = user;
      await db.transaction().execute(async (trx) => {
        await trx
          .updateTable("account")
          .set({
            ...(name !== undefined && { name }),
            ...(settings && { settings: sql`settings || ${JSON.stringify(settings)}::jsonb` }),
            updated_at: sql<Date>`now()`,
          })
          .where("id", "=", account_id)
          .execute();
        const isStaged = await changeStages(trx, account_id, stages);
        const fields = [
          ...fieldNamesOf({ name }),
          ...fieldNamesOf({ ...settings, ...(isStaged && { lead_stages: true }) }).map(
            (field) => `settings.${field}`,
          ),
        ];
        const target = { type: "account", id: account_id };
        await recordAudit(trx, { by, action: "account.update", target, account_id, fields });
      });
      return getOwnAccount(db, user);
    },
  };
}

type StageChange = Pick<
  InputOf<typeof accountsContract.updateAccount>,
  "add_lead_stages" | "remove_lead_stages"
>;

/** Two people can change the stages at once: the row, which the transaction has locked, has the list of both. */
async function changeStages(
  trx: Trx,
  id: number,
  { add_lead_stages: added = [], remove_lead_stages: removed = [] }: StageChange,
): Promise<boolean> {
  if (added.length + removed.length === 0) return false;
  const { settings } = await trx
    .selectFrom("account")
    .select("settings")
    .where("id", "=", id)
    .executeTakeFirstOrThrow(noAccount);
  const { lead_stages: before } = { ...DEFAULT_ACCOUNT_SETTINGS, ...settings };
  const lead_stages = [...new Set([...before.filter((name) => !removed.includes(name)), ...added])];
  if (lead_stages.length > MAX_STAGES)
    throw invalidField("add_lead_stages", `make more than ${MAX_STAGES} stages`, "too_many", {
      max: MAX_STAGES,
    });
  await trx
    .updateTable("account")
    .set({ settings: sql`settings || ${JSON.stringify({ lead_stages })}::jsonb` })
    .where("id", "=", id)
    .execute();
  return true;
}

async function getOwnAccount(db: Db, reach: Reach): Promise<OutputOf<typeof accountsContract.getAccount>> {
  const row = await db
    .selectFrom("account")
    .innerJoin("plan", "plan.id", "account.plan_id")
    .selectAll("plan")
    .select(["account.id as account_id", "account.name as account_name", "account.account_type"])
    .select(["account.settings", "account.trial_ends_at", "account.created_at"])
    .select(accountStateSql.as("status"))
    .select([
      sql<number>`(select count(*) from instance i
        where i.account_id = account.id and i.removed_at is null and ${isWithin(reach, sql.ref("i.id"))})`.as(
        "instances",
      ),
      sql<number>`(select count(*) from account_user u where u.account_id = account.id)`.as("users"),
      storageBytesSql.as("storage_bytes"),
    ])
    .where("account.id", "=", reach.account_id)
    .executeTakeFirstOrThrow(noAccount);
  const { account_id, account_name, account_type, status, instances, users, storage_bytes, ...rest } = row;
  const { settings, trial_ends_at, created_at, ...plan } = rest;
  return {
    id: account_id,
    name: account_name,
    account_type,
    status,
    plan,
    trial_ends_at,
    created_at,
    settings: { ...DEFAULT_ACCOUNT_SETTINGS, ...settings },
    used: { instances, users, storage_bytes },
  };
}
