import { sql } from "kysely";
import type { Engine } from "../../engine/engine.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import type { Handlers } from "../../platform/http/handler.ts";
import type { InputOf } from "../../platform/http/route.ts";
import type { SecretBox } from "../../platform/secrets/secret-box.ts";
import { type AuditActor, fieldNamesOf, recordAudit } from "../audit/audit.ts";
import { createWebhookSecret } from "../instances/instances.ts";
import { expandEvents, type webhooksContract } from "./contract.ts";
import { publishWebhookChange } from "./delivery/delivery-dispatcher.ts";
import {
  changeWebhook,
  createsSecret,
  nextWebhookId,
  requireAllowedUrl,
  type SavedWith,
} from "./save-webhook.ts";
import { toWebhookRecord, type WebhookRow, webhookEncryptionContext } from "./webhook-record.ts";

interface GlobalDeps extends SavedWith {
  db: Db;
  engine: Pick<Engine, "publish">;
}

type GlobalHandlers = Pick<
  Handlers<typeof webhooksContract>,
  "getGlobalWebhook" | "putGlobalWebhook" | "postGlobalWebhook"
>;
type GlobalInput = InputOf<typeof webhooksContract.putGlobalWebhook>;

/** The operator's webhook: one row without an instance, delivered through one lane per instance. */
export function globalWebhookHandlers(deps: GlobalDeps): GlobalHandlers {
  const { db, engine, box, destinations } = deps;
  async function save(input: GlobalInput, by: AuditActor) {
    await requireAllowedUrl(destinations, input.url, "operator");
    const { row, isNew } = await db.transaction().execute(async (trx) => {
      const saved = await saveGlobal(trx, deps, input);
      const target = { type: "webhook", id: saved.row.id };
      const fields = fieldNamesOf(input, "overlap_seconds");
      await recordAudit(trx, { by, action: "webhook.set_global", target, account_id: null, fields });
      return saved;
    });
    publishWebhookChange(engine);
    return toGlobal(row, box, { revealSecret: isNew || createsSecret(input) });
  }

  return {
    getGlobalWebhook: async () => toGlobal(await findGlobal(db), box),
    putGlobalWebhook: ({ input, ...by }) => save(input, by),
    postGlobalWebhook: ({ input, ...by }) => save(input, by),
  };
}

async function saveGlobal(trx: Trx, deps: SavedWith, { enabled, ...change }: GlobalInput) {
  // Without the lock, two concurrent saves would both find no row. No other code changes this row.
  await sql`select pg_advisory_xact_lock(hashtext('waygate global webhook'))`.execute(trx);
  const before = await findGlobal(trx);
  const row = before ?? (await insertGlobal(trx, deps.box));
  const url = change.url ?? row.url;
  const isActive = enabled ?? (change.url !== undefined || row.is_active);
  const saved = await changeWebhook(trx, deps, row, { ...change, is_active: isActive && url !== "" });
  return { row: saved, isNew: before === undefined };
}

async function insertGlobal(trx: Trx, box: SecretBox): Promise<WebhookRow> {
  const id = await nextWebhookId(trx);
  return trx
    .insertInto("webhook")
    .values({
      id,
      name: "Global",
      url: "",
      is_active: false,
      events: [],
      event_names: expandEvents([]),
      secret: box.seal(createWebhookSecret(), webhookEncryptionContext("secret", id)),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

function findGlobal(db: Db | Trx): Promise<WebhookRow | undefined> {
  return db.selectFrom("webhook").selectAll().where("instance_id", "is", null).executeTakeFirst();
}

function toGlobal(row: WebhookRow | undefined, box: SecretBox, { revealSecret = false } = {}) {
  if (!row) return NOT_SET;
  const { is_active: enabled, ...record } = toWebhookRecord(row, box, { revealSecret });
  return { enabled, ...record };
}

const NOT_SET = {
  enabled: false,
  url: "",
  events: [],
  max_attempts: 10,
  format: "native" as const,
  format_token: null,
  secret: null,
  last_delivery_at: null,
  last_status: null,
  last_error_class: null,
  disabled_reason: null,
  disabled_error: null,
};
