import type { Engine } from "../engine/engine.ts";
import { type EventDraft, recordEvents } from "../features/events/events.ts";
import type { ConnectionRecorder } from "../features/instances/record-connection.ts";
import { isConnectionEvent } from "../features/instances/session-status.ts";
import type { Conversations } from "../features/messages/conversations.ts";
import { recordMessageChange } from "../features/messages/record-change.ts";
import { createInboundRecorder } from "../features/messages/record-inbound.ts";
import { createReceiptRecorder } from "../features/messages/record-status.ts";
import type { NetworkEvent } from "../network/driver.ts";
import type { Db } from "../platform/db.ts";

export interface ReportParts {
  db: Db;
  engine: Engine;
  conversations: Conversations;
  recorder: ConnectionRecorder;
}

/** The instance that a session belongs to. */
export interface SessionOwner {
  id: number;
  account_id: number;
}

export type SessionReport = (instance: SessionOwner, event: NetworkEvent) => Promise<void>;

/** Stores what sessions tell, each kind by its feature; resolves once it is stored. */
export function createSessionReport({ db, engine, conversations, recorder }: ReportParts): SessionReport {
  const inbound = createInboundRecorder(db, engine, conversations);
  const receipts = createReceiptRecorder(db, engine);

  return async (instance, event) => {
    if (isConnectionEvent(event)) return recorder.record(instance.id, event);
    switch (event.type) {
      case "message":
        return inbound.record(instance, event.message);
      case "message_status":
        return receipts.record({ instance_id: instance.id, ...event });
      case "message_edited":
      case "message_deleted":
      case "message_reaction":
        return recordMessageChange(db, engine, instance.id, event);
      case "call_received":
      case "group_updated":
        engine.wake(
          await db.transaction().execute((trx) => recordEvents(trx, [toNotice(instance.id, event)])),
        );
    }
  };
}

/** Calls and group changes leave nothing behind but their event. */
function toNotice(
  instance_id: number,
  event: Extract<NetworkEvent, { type: "call_received" | "group_updated" }>,
): EventDraft {
  const at = event.at.toISOString();
  if (event.type === "group_updated") {
    return { event: "group.updated", instance_id, chat: event.group, data: { jid: event.group, at } };
  }
  const { from, call_id, video } = event;
  return { event: "call.received", instance_id, chat: from.jid, data: { call_id, from, video, at } };
}
