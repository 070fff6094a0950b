import { type RawBuilder, sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import { readCursor, toPage } from "../../platform/http/input/pagination.ts";
import type { InputOf } from "../../platform/http/route.ts";
import { type AuditActor, fieldNamesOf, recordAudit } from "../audit/audit.ts";
import { requirePlanQuota } from "../plans/plans.ts";
import { resellerOf } from "./access/reseller-of.ts";
import { findAndLockAccount, noAccount } from "./account-row.ts";
import { accountStateSql, storageBytesSql } from "./account-state.ts";
import type { accountsContract } from "./contract.ts";
import { hasOtherAccounts } from "./has-other-accounts.ts";
import { generatePassword, insertAccount, validateSignInDetails } from "./users/create-account.ts";
import type { PasswordHasher } from "./users/password-hasher.ts";
import { findDefaultPlan, type GrantContext, requireGrantable } from "./users/require-grantable.ts";

export interface ManagedAccountsDeps {
  db: Db;
  passwords: PasswordHasher;
  /** Whether the gateway calls this machine only while one account exists. */
  closesThisMachine: boolean;
}

type ManagedHandlers = Pick<
  Handlers<typeof accountsContract>,
  "listAccounts" | "createAccount" | "changeAccount"
>;
type ActorInput = Required<Pick<AuditActor, "ip" | "request_id">> & GrantContext;

/** Accounts for the owner and the resellers; a reseller sees and changes only its own customers. */
export function managedAccountHandlers(deps: ManagedAccountsDeps): ManagedHandlers {
  const { db } = deps;
  return {
    async listAccounts({ input, caller }) {
      const { rows, pagination } = await listAccounts(db, resellerOf(caller), input);
      return new OkResponse(rows, { beside: { pagination } });
    },
    createAccount: ({ input, ...by }) => createCustomer(deps, input, by),
    changeAccount: ({ input, ...by }) => db.transaction().execute((trx) => changeAccount(trx, input, by)),
  };
}

async function listAccounts(
  db: Db,
  reseller: number | undefined,
  input: InputOf<typeof accountsContract.listAccounts>,
) {
  const before = readCursor(input.cursor);
  let query = selectAccounts(db, reseller)
    .orderBy("account.id", "desc")
    .limit(input.limit + 1);
  if (before !== undefined) query = query.where("account.id", "<", before);
  if (input.account_id) query = query.where("account.id", "=", input.account_id);
  if (input.status) query = query.where(accountStateSql, "=", input.status);
  if (input.account_type) query = query.where("account.account_type", "=", input.account_type);
  if (input.parent_id) query = query.where("account.parent_id", "=", input.parent_id);
  if (input.q) query = query.where(matches(input.q));
  return toPage((await query.execute()).map(toRow), input.limit, ({ id }) => id);
}

async function createCustomer(
  { db, passwords, closesThisMachine }: ManagedAccountsDeps,
  { password, must_change_password = true, ...input }: InputOf<typeof accountsContract.createAccount>,
  by: ActorInput,
) {
  const reseller = resellerOf(by.caller);
  const made = password === undefined ? generatePassword() : undefined;
  const account = {
    ...input,
    password: password ?? made ?? "",
    must_change_password,
    parent_id: input.parent_id ?? reseller ?? null,
    status: input.status ?? (input.trial_ends_at ? ("trial" as const) : undefined),
  };
  await validateSignInDetails(account);
  const password_hash = await passwords.hash(account.password);
  return db.transaction().execute(async (trx) => {
    await requireGrantable(trx, by, account);
    if (account.parent_id !== null) await requireCustomerQuota(trx, account.parent_id);
    const plan_id = account.plan_id ?? (await findDefaultPlan(trx, by));
    const closes = closesThisMachine && !(await hasOtherAccounts(trx));
    const { account_id, user_id } = await insertAccount(trx, { ...account, plan_id }, password_hash);
    const target = { type: "account", id: account_id };
    await recordAudit(trx, { by, action: "account.create", target, account_id, fields: fieldNamesOf(input) });
    const row = await getAccount(trx, reseller, account_id);
    const { user_name: name = account.name, email } = account;
    const user = {
      id: user_id,
      name,
      email,
      role: "admin" as const,
      instance_ids: null,
      must_change_password,
    };
    return { ...row, user, ...(made && { password: made }), ...(closes && { hint: CLOSES_THIS_MACHINE }) };
  });
}

const CLOSES_THIS_MACHINE =
  "From now on the gateway sends no webhooks and other requests to this machine (localhost), for any account. WAYGATE_ALLOWED_HOSTS allows single hosts and ports, and WAYGATE_LOCAL_TARGETS=on all of them.";

async function changeAccount(
  trx: Trx,
  input: InputOf<typeof accountsContract.changeAccount>,
  by: ActorInput,
) {
  const { id, ...change } = input;
  const reseller = resellerOf(by.caller);
  const before = await findAndLockAccount(trx, id, { reseller });
  if (!before) throw noAccount();
  if (before.account_type === "owner" && (change.status ?? change.plan_id ?? change.parent_id)) {
    throw new GatewayError(
      "CONFLICT",
      "The status, plan and parent of the owner's account cannot be changed.",
    );
  }
  const isReactivating = change.status !== undefined || change.trial_ends_at !== undefined;
  if (reseller !== undefined && before.suspended_by_owner && isReactivating) {
    throw new GatewayError(
      "FORBIDDEN",
      "The owner of the gateway has suspended this account, and only the owner can reactivate it.",
    );
  }
  await requireGrantable(trx, by, { ...change, id, account_type: before.account_type });
  const { parent_id } = change;
  if (parent_id && parent_id !== before.parent_id) await requireCustomerQuota(trx, parent_id);
  const suspended_by_owner = reseller === undefined && isOutOfService(change.status);
  await trx
    .updateTable("account")
    .set({ ...change, ...(change.status && { suspended_by_owner }), updated_at: sql<Date>`now()` })
    .where("id", "=", id)
    .execute();
  const fields = fieldNamesOf(input, "id");
  await recordAudit(trx, {
    by,
    action: "account.change",
    target: { type: "account", id },
    account_id: id,
    fields,
  });
  return getAccount(trx, reseller, id);
}

/** Suspended customers also count; only the gateway's owner can remove them from a reseller. */
function requireCustomerQuota(trx: Trx, reseller: number): Promise<void> {
  return requirePlanQuota(trx, {
    account_id: reseller,
    limit: "max_accounts",
    async count() {
      const { count } = await trx
        .selectFrom("account")
        .select(({ fn }) => fn.countAll<number>().as("count"))
        .where("parent_id", "=", reseller)
        .where("removed_at", "is", null)
        .executeTakeFirstOrThrow();
      return Number(count);
    },
  });
}

function isOutOfService(status: string | undefined): boolean {
  return status !== undefined && status !== "active" && status !== "trial";
}

async function getAccount(trx: Trx, reseller: number | undefined, id: number) {
  return toRow(
    await selectAccounts(trx, reseller).where("account.id", "=", id).executeTakeFirstOrThrow(noAccount),
  );
}

function selectAccounts(db: Db | Trx, reseller: number | undefined) {
  const query = db
    .selectFrom("account")
    .innerJoin("plan", "plan.id", "account.plan_id")
    .where("account.removed_at", "is", null)
    .select(["account.id", "account.name", "account.account_type", "account.parent_id"])
    .select(["account.trial_ends_at", "account.created_at", "account.plan_id", "plan.name as plan_name"])
    .select([
      accountStateSql.as("status"),
      sql<number>`(select count(*) from account_user u where u.account_id = account.id)`.as("users"),
      sql<number>`(select count(*) from instance i where i.account_id = account.id and i.removed_at is null)`.as(
        "instances",
      ),
      sql<number>`(select count(*) from instance i
        where i.account_id = account.id and i.removed_at is null and i.status = 'connected')`.as(
        "connected_instances",
      ),
      sql<number>`coalesce((select sent from monthly_message_count m where m.account_id = account.id
        and m.month = date_trunc('month', now() at time zone 'utc')::date), 0)`.as("messages_month"),
      storageBytesSql.as("storage_bytes"),
    ]);
  return reseller === undefined ? query : query.where("account.parent_id", "=", reseller);
}

function toRow({
  plan_id,
  plan_name,
  ...row
}: Awaited<ReturnType<ReturnType<typeof selectAccounts>["executeTakeFirstOrThrow"]>>) {
  return { ...row, plan: { id: plan_id, name: plan_name } };
}

function matches(q: string): RawBuilder<boolean> {
  return sql`(${containsText(q, sql`account.name`)} or exists (
    select from account_user u where u.account_id = account.id and ${containsText(q, sql`u.email`)}))`;
}
