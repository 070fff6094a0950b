import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import { type Page, readCursor, readPage } from "../../platform/http/input/pagination.ts";
import { isWithin } from "../../platform/reach.ts";
import type { InstanceStatus } from "../../tables.ts";
import { currentMonth } from "../plans/plans.ts";
import { maskApiKey } from "./api-keys/api-key.ts";
import { noInstance } from "./instance-row.ts";
import { type InstanceView, toInstanceView } from "./to-instance-view.ts";

export interface ListInstancesOptions {
  /** Undefined: all accounts. */
  account_id?: number;
  /** Only these; null: all. */
  ids?: readonly number[] | null;
  limit: number;
  cursor?: string;
  status?: InstanceStatus;
  /** Part of the name or the phone, or an id. */
  q?: string;
  sort?: "newest" | "oldest" | "name";
}

export type ListedInstance = InstanceView & { token: string | null };

/** Newest first by default, each with its key masked. */
export async function listInstances(
  db: Db,
  baseUrl: string,
  { account_id, ids = null, limit, cursor, status, q, sort = "newest" }: ListInstancesOptions,
): Promise<Page<ListedInstance>> {
  const { by, after } = ORDERS[sort];
  let query = selectShown(db)
    .where(isWithin({ instance_ids: ids }, sql.ref("instance.id")))
    .orderBy(by);
  if (account_id !== undefined) query = query.where("instance.account_id", "=", account_id);
  if (status !== undefined) query = query.where("instance.status", "=", status);
  if (q) query = query.where(matches(q));
  const { rows, pagination } = await readPage(
    { limit, cursor },
    async (page) => {
      const last = readCursor(page.cursor);
      const rest = last === undefined ? query : query.where(after(last));
      return rest.limit(page.limit).execute();
    },
    ({ id }) => id,
  );
  return { rows: rows.map((row) => toListed(row, baseUrl)), pagination };
}

interface InstanceOrder {
  by: RawBuilder<unknown>;
  /** The rows after the one with this id. */
  after(id: number): RawBuilder<boolean>;
}

const ORDERS: Readonly<Record<NonNullable<ListInstancesOptions["sort"]>, InstanceOrder>> = {
  newest: { by: sql`instance.id desc`, after: (id) => sql`instance.id < ${id}` },
  oldest: { by: sql`instance.id`, after: (id) => sql`instance.id > ${id}` },
  name: {
    by: sql`lower(instance.name), instance.id`,
    // The row of the cursor counts only within the account, so that a cursor reveals no other name.
    after: (id) => sql`(lower(instance.name), instance.id) > (
      select lower(l.name), l.id from instance l where l.id = ${id} and l.account_id = instance.account_id)`,
  },
};

function matches(q: string): RawBuilder<boolean> {
  return sql`(${containsText(q, sql`instance.name, instance.phone`)} or instance.id::text = ${q})`;
}

/** Throws NOT_FOUND. */
export async function getInstanceView(db: Db, baseUrl: string, id: number): Promise<ListedInstance> {
  const row = await selectShown(db).where("instance.id", "=", id).executeTakeFirstOrThrow(noInstance);
  return toListed(row, baseUrl);
}

type InstanceViewRow = Awaited<ReturnType<ReturnType<typeof selectShown>["execute"]>>[number];

function toListed({ last4, messages_used, ...row }: InstanceViewRow, baseUrl: string): ListedInstance {
  const limits = {
    max_instances: row.max_instances,
    max_users: row.max_users,
    max_messages: row.max_messages,
    max_campaigns: row.max_campaigns,
    max_leads: row.max_leads,
    max_storage_mb: row.max_storage_mb,
    api_rate_limit_per_minute: row.api_rate_limit_per_minute,
    instance_rate_limit_per_minute: row.instance_rate_limit_per_minute,
    message_rate_limit_per_minute: row.message_rate_limit_per_minute,
  };
  const used = row.max_messages === null ? null : (messages_used ?? 0);
  return { ...toInstanceView(row, limits, used, baseUrl), token: last4 && maskApiKey(last4) };
}

function selectShown(db: Db) {
  return db
    .selectFrom("instance")
    .innerJoin("account", "account.id", "instance.account_id")
    .innerJoin("plan", "plan.id", "account.plan_id")
    .selectAll("instance")
    .select([
      "plan.max_instances",
      "plan.max_users",
      "plan.max_messages",
      "plan.max_campaigns",
      "plan.max_leads",
      "plan.max_storage_mb",
    ])
    .select(["plan.api_rate_limit_per_minute", "plan.instance_rate_limit_per_minute"])
    .select("plan.message_rate_limit_per_minute")
    .select(({ selectFrom }) =>
      selectFrom("api_key")
        .select("api_key.last4")
        .whereRef("api_key.instance_id", "=", "instance.id")
        .orderBy("api_key.id", "desc")
        .limit(1)
        .as("last4"),
    )
    .select(({ selectFrom }) =>
      selectFrom("message_usage as u")
        .select("u.used")
        .whereRef("u.account_id", "=", "instance.account_id")
        .where("u.month", "=", currentMonth())
        .as("messages_used"),
    )
    .where("instance.removed_at", "is", null);
}
