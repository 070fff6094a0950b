import { sql } from "kysely";
import { addLane } from "../../engine/lane-store.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { invalidFields } from "../../platform/gateway-error.ts";
import type { InputOf, OutputOf } from "../../platform/http/route.ts";
import { claimIdempotencyKey, storeResponse } from "../../platform/http/run-idempotently.ts";
import type { ValueIssue } from "../../platform/issue-codes.ts";
import { fingerprint } from "../../platform/secrets/fingerprint.ts";
import { encryptionContextOf, type SecretBox } from "../../platform/secrets/secret-box.ts";
import { type AuditActor, fieldNamesOf, recordAudit } from "../audit/audit.ts";
import { requirePlanQuota } from "../plans/plans.ts";
import { holdApiKey, issueApiKey } from "./api-keys/issue-api-key.ts";
import type { instancesContract } from "./contract.ts";
import { createWebhookSecret } from "./create-webhook-secret.ts";
import type { InstanceRow } from "./instance-row.ts";
import { readSettings, requireSettingsWithinPlan } from "./instance-settings.ts";
import { type OutgoingPolicy, requireAllowedProxyUrl } from "./require-allowed-urls.ts";
import { requireSandbox, type SandboxUse } from "./require-sandbox.ts";
import { toWebhookSetupView } from "./to-instance-view.ts";

type CreateInput = InputOf<typeof instancesContract.createInstance>;
export type CreatedInstance = OutputOf<typeof instancesContract.createInstance>;

export interface CreateInstanceDeps {
  db: Db;
  box: SecretBox;
  outgoing: OutgoingPolicy;
  baseUrl: string;
  /** Default network of new instances. */
  network: "whatsapp" | "sandbox";
  sandbox: SandboxUse;
  /** Why an address cannot be that of a webhook. */
  findWebhookIssue(url: string): Promise<ValueIssue | undefined>;
  /** Adds the first webhook, which signs with the instance's secret; returns it with the secret. */
  createDefaultWebhook(
    trx: Trx,
    input: {
      instance: { id: number; account_id: number; webhook_secret: Buffer };
      url: string;
      events?: string[];
    },
  ): Promise<NonNullable<CreatedInstance["default_webhook"]>>;
}

/** Creates an instance with its lanes, event counter, key, secret and first webhook in one transaction. */
export async function createInstance(
  deps: CreateInstanceDeps,
  account_id: number,
  input: CreateInput,
  by: InstanceCreator,
): Promise<InstanceCreation> {
  const network = input.network ?? deps.network;
  if (network === "sandbox") await requireSandbox(deps, account_id);
  const webhook = readWebhook(input);
  const issue = webhook && (await deps.findWebhookIssue(webhook.url));
  if (issue) throw invalidFields([{ field: "webhook_url", ...issue }]);
  await requireAllowedProxyUrl(deps.outgoing, input.proxy?.url);
  const columns = {
    name: input.name,
    network,
    metadata: JSON.stringify(input.metadata ?? {}),
    settings: JSON.stringify(readSettings({}, input)),
    proxy: input.proxy?.url ?? null,
    parent_instance_id: by.caller.kind === "key" ? by.caller.instance_id : null,
  };
  return deps.db.transaction().execute(async (trx) => {
    const { key, caller } = by;
    if (caller.kind === "key") await holdApiKey(trx, caller.key_id);
    const once = key && { account_id, ...key, fingerprint: fingerprint(input) };
    const earlier = once && (await claimIdempotencyKey(trx, deps.box, once));
    if (earlier) return { created: earlier.response as CreatedInstance, lanes: [], isReplayed: true };
    await requireSettingsWithinPlan(trx, account_id, input.settings);
    const count = () => countInstances(trx, account_id);
    await requirePlanQuota(trx, { account_id, limit: "max_instances", count });
    const { created, lanes } = await make(deps, trx, { ...columns, account_id }, webhook);
    const target = { type: "instance", id: created.id };
    const fields = fieldNamesOf(input, "account_id");
    await recordAudit(trx, { by, action: "instance.create", target, account_id, fields });
    if (once) await storeResponse(trx, deps.box, once, created);
    return { created, lanes, isReplayed: false };
  });
}

/** The creator, and the key for which a repeated request gets the same response. */
export interface InstanceCreator extends AuditActor {
  key?: { route: string; key: string };
}

export interface InstanceCreation {
  created: CreatedInstance;
  /** Lanes to wake after the commit. */
  lanes: number[];
  /** An earlier request with the same key created it. */
  isReplayed: boolean;
}

async function make(
  deps: CreateInstanceDeps,
  trx: Trx,
  columns: Omit<NewInstance, "webhook_secret">,
  webhook: FirstWebhook | undefined,
): Promise<Omit<InstanceCreation, "isReplayed">> {
  const webhook_secret = createWebhookSecret();
  const row = await insertInstance(trx, deps.box, { ...columns, webhook_secret });
  const { api_key } = await issueApiKey(trx, row);
  const default_webhook = webhook && (await deps.createDefaultWebhook(trx, { ...webhook, instance: row }));
  const created = {
    id: row.id,
    name: row.name,
    status: row.status,
    api_key,
    webhook_secret,
    webhook: { ...toWebhookSetupView(row.id, deps.baseUrl), secret: webhook_secret },
    ...(default_webhook && { default_webhook }),
  };
  return { created, lanes: [row.lane, row.global_lane] };
}

interface FirstWebhook {
  url: string;
  events?: string[];
}

function readWebhook({ webhook_url, webhook }: CreateInput): FirstWebhook | undefined {
  const { url, events } = typeof webhook === "object" && webhook !== null ? webhook : { url: webhook };
  const first = webhook_url || url;
  return first ? { url: first, events } : undefined;
}

async function countInstances(trx: Trx, account_id: number): Promise<number> {
  const { count } = await trx
    .selectFrom("instance")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("account_id", "=", account_id)
    .where("removed_at", "is", null)
    .executeTakeFirstOrThrow();
  return count;
}

interface NewInstance {
  account_id: number;
  name: string;
  network: "whatsapp" | "sandbox";
  metadata: string;
  settings: string;
  proxy: string | null;
  parent_instance_id: number | null;
  webhook_secret: string;
}

async function insertInstance(trx: Trx, box: SecretBox, input: NewInstance): Promise<InstanceRow> {
  const { proxy, webhook_secret, ...columns } = input;
  const { rows } = await sql<{ id: number }>`
    select nextval(pg_get_serial_sequence('instance', 'id')) as id`.execute(trx);
  const id = Number(rows[0]?.id);
  const lane = await addLane(trx, "session", String(id));
  const global_lane = await addLane(trx, "webhook", `global:${id}`);
  const row = await trx
    .insertInto("instance")
    .values({
      ...columns,
      id,
      lane,
      global_lane,
      proxy: proxy === null ? null : box.seal(proxy, encryptionContextOf("instance", "proxy", id)),
      webhook_secret: box.seal(webhook_secret, encryptionContextOf("instance", "webhook_secret", id)),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await trx.insertInto("event_counter").values({ instance_id: id }).execute();
  return row;
}
