import type { Engine } from "../../engine/engine.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { Handlers } from "../../platform/http/handler.ts";
import { recordAudit } from "../audit/audit.ts";
import { createWebhookSecret, lockInstance } from "../instances/instances.ts";
import type { webhooksContract } from "./contract.ts";
import { publishWebhookChange } from "./delivery/delivery-dispatcher.ts";
import { formatEventBody } from "./event-formats.ts";
import { selectWebhooks } from "./find-webhook.ts";
import { ownReceiverUrl } from "./own-receiver-url.ts";
import { insertWebhook, type SavedWith } from "./save-webhook.ts";
import { openToken, openUrl, type WebhookRow, webhookEncryptionContext } from "./webhook-record.ts";

interface ReceiverDeps extends SavedWith {
  db: Db;
  engine: Engine;
  baseUrl: string;
}

const SHOWN = 20;

/** The gateway's own receiver of an instance: a webhook whose deliveries stay inside the gateway. */
export function ownReceiverHandlers(
  deps: ReceiverDeps,
): Pick<Handlers<typeof webhooksContract>, "openReceiver" | "getReceiver"> {
  const { db, engine, baseUrl } = deps;
  return {
    async openReceiver({ input: { id }, ...by }) {
      const row = await db.transaction().execute(async (trx) => {
        const { account_id } = await lockInstance(trx, id);
        const open = await findReceiver(trx, deps, id);
        if (open) return open;
        const url = ownReceiverUrl(baseUrl, id);
        const named = { name: "Gateway receiver", url, events: [], secret: createWebhookSecret() };
        const added = await insertWebhook(trx, deps, { ...named, instance_id: id, account_id });
        const target = { type: "webhook", id: added.id } as const;
        await recordAudit(trx, { by, action: "webhook.create", target, account_id, fields: ["url"] });
        return added;
      });
      publishWebhookChange(engine);
      return toReceiver(deps, row, id);
    },

    async getReceiver({ input: { id } }) {
      const row = await findReceiver(db, deps, id);
      if (!row) throw new GatewayError("NOT_FOUND", "The receiver of this instance is not open.");
      return toReceiver(deps, row, id);
    },
  };
}

/** The stored URL is masked, so that the sealed one decides. */
async function findReceiver(
  db: Db | Trx,
  { box, baseUrl }: ReceiverDeps,
  instanceId: number,
): Promise<WebhookRow | undefined> {
  const rows = await selectWebhooks(db, instanceId).orderBy("id").execute();
  return rows.find((row) => openUrl(row, box) === ownReceiverUrl(baseUrl, instanceId));
}

async function toReceiver(deps: ReceiverDeps, webhook: WebhookRow, instanceId: number) {
  const { box, baseUrl } = deps;
  const url = ownReceiverUrl(baseUrl, instanceId);
  const received = await readReceived(deps.db, webhook.id);
  const shape = { url, token: openToken(webhook, box), baseUrl };
  return {
    webhook_id: webhook.id,
    url,
    secret: box.open(webhook.secret, webhookEncryptionContext("secret", webhook.id)),
    received: received.map(({ body, request_headers, created_at, ...row }) => ({
      ...row,
      received_at: created_at,
      headers: request_headers ?? {},
      body: body && (formatEventBody(deps.formats, body, webhook.format, shape)?.toString("utf8") ?? null),
    })),
  };
}

function readReceived(db: Db, webhookId: number) {
  return db
    .selectFrom("attempt as a")
    .leftJoin("event as e", (join) =>
      join.onRef("e.event_id", "=", "a.event_id").onRef("e.created_at", "=", "a.event_at"),
    )
    .select(["a.id", "a.event_id", "a.event", "a.attempt", "a.request_headers", "a.created_at", "e.body"])
    .where("a.webhook_id", "=", webhookId)
    .where("a.request_headers", "is not", null)
    .orderBy("a.id", "desc")
    .limit(SHOWN)
    .execute();
}
