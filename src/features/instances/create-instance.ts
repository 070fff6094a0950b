import { sql } from "kysely";
import { addLane } from "../../engine/lanes.ts";
import type { Db, Trx } from "../../platform/db.ts";
import { GatewayError } from "../../platform/errors.ts";
import type { InputOf, OutputOf } from "../../platform/route.ts";
import type { SecretBox } from "../../platform/secret-box.ts";
import { newWebhookSecret } from "../../platform/webhook-secret.ts";
import { issueApiKey } from "./api-keys.ts";
import type { instancesContract } from "./contract.ts";
import type { InstanceRow } from "./instance-row.ts";
import { readSettings } from "./instance-settings.ts";
import { toWebhookPackage } from "./instance-view.ts";
import { type OutgoingPolicy, requireAllowedProxy, requireAllowedWebhook } from "./outgoing-policy.ts";

type CreateInput = InputOf<typeof instancesContract.createInstance>;
export type CreatedInstance = OutputOf<typeof instancesContract.createInstance>;

export interface CreateDeps {
  db: Db;
  box: SecretBox;
  outgoing: OutgoingPolicy;
  baseUrl: string;
  /** Network of an instance that names none. */
  network: "whatsapp" | "sandbox";
  /** Adds the first webhook, which signs with the instance's own secret, and answers it with the secret. */
  createDefaultWebhook(
    trx: Trx,
    given: {
      instance: { id: number; account_id: number; webhook_secret: Buffer };
      url: string;
      events?: string[];
    },
  ): Promise<NonNullable<CreatedInstance["default_webhook"]>>;
}

/** Makes an instance whole or not at all: lanes, counter of events, key, secret and first webhook in one transaction. */
export async function createInstance(
  deps: CreateDeps,
  account_id: number,
  input: CreateInput,
): Promise<{ created: CreatedInstance; row: InstanceRow }> {
  const webhook = readWebhook(input);
  await requireAllowedWebhook(deps.outgoing, webhook?.url);
  await requireAllowedProxy(deps.outgoing, input.proxy?.url);
  const columns = {
    name: input.name,
    network: input.network ?? deps.network,
    metadata: JSON.stringify(input.metadata ?? {}),
    settings: JSON.stringify(readSettings({}, input)),
    proxy: input.proxy ? deps.box.seal(input.proxy.url) : null,
  };
  return deps.db.transaction().execute(async (trx) => {
    await requireRoom(trx, account_id);
    const webhook_secret = newWebhookSecret();
    const sealed = deps.box.seal(webhook_secret);
    const row = await insertInstance(trx, { ...columns, account_id, webhook_secret: sealed });
    const { api_key } = await issueApiKey(trx, row);
    const default_webhook = webhook && (await deps.createDefaultWebhook(trx, { ...webhook, instance: row }));
    const created = {
      id: row.id,
      name: row.name,
      status: row.status,
      api_key,
      webhook_secret,
      webhook: { ...toWebhookPackage(row.id, deps.baseUrl), secret: webhook_secret },
      ...(default_webhook && { default_webhook }),
    };
    return { created, row };
  });
}

function readWebhook({ webhook_url, webhook }: CreateInput): { url: string; events?: string[] } | undefined {
  const { url, events } = typeof webhook === "object" && webhook !== null ? webhook : { url: webhook };
  const first = webhook_url || url;
  return first ? { url: first, events } : undefined;
}

/** The account's row is locked, so that two requests at once cannot both take the last place. */
async function requireRoom(trx: Trx, account_id: number): Promise<void> {
  const plan = await trx
    .selectFrom("account")
    .innerJoin("plan", "plan.id", "account.plan_id")
    .select("plan.max_instances")
    .where("account.id", "=", account_id)
    .forNoKeyUpdate("account")
    .executeTakeFirst();
  if (!plan) throw new GatewayError("NOT_FOUND", "There is no such account.");
  if (plan.max_instances === null) return;
  const { count } = await trx
    .selectFrom("instance")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("account_id", "=", account_id)
    .where("removed_at", "is", null)
    .executeTakeFirstOrThrow();
  if (count < plan.max_instances) return;
  throw new GatewayError("QUOTA_EXCEEDED", `The plan allows ${plan.max_instances} instances.`, {
    details: { limit: plan.max_instances, used: count },
  });
}

interface NewInstance {
  account_id: number;
  name: string;
  network: "whatsapp" | "sandbox";
  metadata: string;
  settings: string;
  proxy: Buffer | null;
  webhook_secret: Buffer;
}

async function insertInstance(trx: Trx, columns: NewInstance): Promise<InstanceRow> {
  const { rows } = await sql<{ id: number }>`
    select nextval(pg_get_serial_sequence('instance', 'id')) as id`.execute(trx);
  const id = Number(rows[0]?.id);
  const lane = await addLane(trx, "session", String(id));
  const global_lane = await addLane(trx, "webhook", `global:${id}`);
  const row = await trx
    .insertInto("instance")
    .values({ ...columns, id, lane, global_lane })
    .returningAll()
    .executeTakeFirstOrThrow();
  await trx.insertInto("event_head").values({ instance_id: id }).execute();
  return row;
}
