import type { Engine } from "../../engine/engine.ts";
import { GatewayError } from "../../platform/errors.ts";
import type { Handlers } from "../../platform/handler.ts";
import { newWebhookSecret } from "../../platform/webhook-secret.ts";
import type { webhooksContract } from "./contract.ts";
import { changeDefaultWebhook } from "./default-webhook.ts";
import { deliveryLogHandlers } from "./delivery-logs.ts";
import { findDefaultWebhook, getWebhook, lockInstance, lockWebhook, selectWebhooks } from "./find-webhook.ts";
import { globalWebhookHandlers } from "./global-webhook.ts";
import { recoverDeliveries } from "./recover-webhook.ts";
import { discardQueued, hideWebhook } from "./remove-webhook.ts";
import { resendHandlers } from "./resend-event.ts";
import { bringsSecret, changeWebhook, insertWebhook, requireAllowedUrl } from "./save-webhook.ts";
import { createWebhookTest, type WebhookTestDeps } from "./test-webhook.ts";
import { toWebhookRecord } from "./webhook-record.ts";

export interface WebhookDeps extends WebhookTestDeps {
  engine: Engine;
}

export function webhookHandlers(deps: WebhookDeps): Handlers<typeof webhooksContract> {
  return {
    ...savingHandlers(deps),
    ...sendingHandlers(deps),
    ...deliveryLogHandlers(deps.db),
    ...resendHandlers(deps),
    ...globalWebhookHandlers(deps),
  };
}

type SavingHandlers = Pick<
  Handlers<typeof webhooksContract>,
  "listWebhooks" | "createWebhook" | "updateWebhook" | "deleteWebhook" | "updateDefaultWebhook"
>;

function savingHandlers({ db, engine, box, outgoing }: WebhookDeps): SavingHandlers {
  return {
    async listWebhooks({ input }) {
      const rows = await selectWebhooks(db, input.id).orderBy("id").execute();
      return rows.map((row) => toWebhookRecord(row, box));
    },

    async createWebhook({ input: { id, secret = newWebhookSecret(), ...fields } }) {
      await requireAllowedUrl(outgoing, fields.url);
      const row = await db.transaction().execute(async (trx) => {
        const { account_id } = await lockInstance(trx, id);
        return insertWebhook(trx, box, { ...fields, secret, instance_id: id, account_id });
      });
      forgetLane(engine, row.lane);
      return toWebhookRecord(row, box, { revealSecret: true });
    },

    async updateWebhook({ input: { id, webhookId, ...change } }) {
      await requireAllowedUrl(outgoing, change.url);
      const row = await db
        .transaction()
        .execute(async (trx) => changeWebhook(trx, box, await lockWebhook(trx, id, webhookId), change));
      forgetLane(engine, row.lane);
      return toWebhookRecord(row, box, { revealSecret: bringsSecret(change) });
    },

    async deleteWebhook({ input: { id, webhookId } }) {
      const row = await db.transaction().execute(async (trx) => {
        const found = await lockWebhook(trx, id, webhookId);
        await hideWebhook(trx, found);
        return found;
      });
      await discardQueued(db, row);
      forgetLane(engine, row.lane);
      return { id: webhookId };
    },

    async updateDefaultWebhook({ input: { id, ...change } }) {
      await requireAllowedUrl(outgoing, change.url);
      const row = await db.transaction().execute((trx) => changeDefaultWebhook(trx, box, id, change));
      forgetLane(engine, row.lane);
      return toWebhookRecord(row, box, { revealSecret: bringsSecret(change) });
    },
  };
}

type SendingHandlers = Pick<
  Handlers<typeof webhooksContract>,
  "recoverWebhook" | "testWebhook" | "testDefaultWebhook"
>;

function sendingHandlers(deps: WebhookDeps): SendingHandlers {
  const { db, engine } = deps;
  const test = createWebhookTest(deps);
  return {
    async recoverWebhook({ input }) {
      const { queued, lane } = await recoverDeliveries(db, input);
      forgetLane(engine, lane);
      return { queued };
    },

    async testWebhook({ input: { id, webhookId } }) {
      return test(await getWebhook(db, id, webhookId), id);
    },

    async testDefaultWebhook({ input: { id } }) {
      const row = await findDefaultWebhook(db, id);
      if (!row) throw new GatewayError("NOT_FOUND", "The instance has no default webhook.");
      return test(row, id);
    },
  };
}

/** What the lane's owner knows of it in memory may be wrong by now. */
function forgetLane(engine: Engine, lane: number | null): void {
  engine.wake(lane === null ? [] : [lane], { changed: true });
}
