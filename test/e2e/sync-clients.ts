import assert from "node:assert/strict";
import { createClient, WaygateError } from "../../src/client/client.ts";
import { waitUntil } from "../gateway.ts";
import type { ClientSend, Known } from "./ledgers.ts";
import type { PlannedSend } from "./send-history.ts";
import type { WhatsAppStory } from "./whatsapp-story.ts";

const PATIENCE_MS = 240_000;

interface RequestedSend extends PlannedSend {
  known: Known;
  message_id?: string;
}

/**
 * One client for each chat, which waits for each response before its next sync send. Every second client has
 * idempotency keys and retries until the outcome is known.
 */
export interface SyncClients {
  count(): number;
  /** Sends until `isOver`, to the current gateway. */
  send(name: string, urlNow: () => string, isOver: () => boolean): Promise<void>;
  /** The clients' ledger. A request without a response counts as accepted if its message exists. */
  readLedger(): Promise<ClientSend[]>;
}

interface SendRow {
  id: number;
  text: string;
  message_id: string;
  job_id: string;
}

export function createSyncClients(on: WhatsAppStory, people: readonly string[]): SyncClients {
  const requested: RequestedSend[] = [];
  const clientAt = (baseUrl: string) => createClient({ baseUrl, apiKey: on.instance.api_key });

  /** The client's knowledge; undefined if it retries with its key. */
  async function sendOne(url: string, planned: PlannedSend, idempotencyKey?: string) {
    const response = await clientAt(url)
      .sendText({ id: on.instance.id, ...planned }, { idempotencyKey })
      .then(
        ({ data }) => ({ known: "ok" as const, message_id: data.message_id }),
        (error: unknown) => {
          const isRefused = error instanceof WaygateError && error.code === "INSTANCE_NOT_CONNECTED";
          return { known: isRefused ? ("fail" as const) : ("unknown" as const) };
        },
      );
    if (response.known !== "ok" && idempotencyKey !== undefined) return undefined;
    requested.push({ ...planned, ...response });
    return response.known;
  }

  async function isOnline(url: string): Promise<boolean> {
    const status = clientAt(url).getInstanceStatus({ id: on.instance.id });
    return status.then(
      ({ data }) => data.connected,
      () => false,
    );
  }

  return {
    count: () => requested.length,
    async send(name, urlNow, isOver) {
      await Promise.all(
        people.map(async (number, chat) => {
          for (let n = 0; !isOver(); n++) {
            const planned = { text: `${name} ${chat} ${n}.`, number };
            const key = chat % 2 === 0 ? planned.text.replaceAll(" ", "-") : undefined;
            let known: Known | undefined;
            await waitUntil(async () => {
              known = await sendOne(urlNow(), planned, key);
              return known;
            }, PATIENCE_MS);
            if (known !== "ok")
              await waitUntil(async () => isOver() || (await isOnline(urlNow())), PATIENCE_MS);
          }
        }),
      );
    },
    async readLedger() {
      const rows = await on.story.rows<SendRow>(
        // A send that never started frees its key when its caller's wait ends, so the retry is another send.
        `select id, content ->> 'text' as text, message_id, job_id from message
         where direction = 'outbound' and content ->> 'text' = any($1)
           and (submitted_at is not null or status is distinct from 'failed'
             or error ->> 'code' <> 'SEND_TIMEOUT' and coalesce(outcome_at <= deadline, true))`,
        requested.map(({ text }) => text),
      );
      const byText = new Map(rows.map((row) => [row.text, row]));
      const twice = rows.filter((row) => byText.get(row.text) !== row);
      assert.deepEqual(twice, [], "messages of one request");
      return requested.map(({ text: key, number: chat, known, message_id }) => {
        const row = byText.get(key);
        if (!row) return { key, chat, known: known === "ok" ? "ok" : "fail" };
        if (known === "ok") assert.equal(message_id, row.message_id);
        return { key, chat, known: "ok", order: row.id, job_id: row.job_id, message_id: row.message_id };
      });
    },
  };
}
