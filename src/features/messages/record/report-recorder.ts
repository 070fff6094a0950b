import { createBatchWriter } from "../../../engine/batch-queue.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { faultPoint } from "../../../platform/fault-point.ts";
import type { EventDraft, EventRecorder } from "../../events/events.ts";
import {
  applyInboundMessages,
  type InboundEvent,
  type InboundFollower,
} from "../inbound/apply-inbound-messages.ts";
import type { InboundMessageWriter } from "../inbound/inbound-recorder.ts";
import type { InboundMessage } from "../inbound/insert-inbound-messages.ts";
import type { MessageRow } from "../log/message-view.ts";
import type { MessageReceipt } from "../receipts/message-receipt.ts";
import { applyReceipts, type ReceiptEvent, type ReceiptRecorder } from "../receipts/record-receipts.ts";
import { publishOutcomes } from "../send/outcome/outcome-watch.ts";
import {
  applyOutcomes,
  type CampaignFollower,
  type OutcomeRecorder,
  outcomeEvent,
  type SendOutcome,
} from "../send/record-outcome.ts";

export interface ReportRecorderDeps extends ReportUsers {
  db: Db;
  engine: Engine;
}

/** What uses the reports in their transaction. */
interface ReportUsers {
  events: EventRecorder;
  followCampaigns: CampaignFollower;
  followMessages: InboundFollower;
}

export interface ReportRecorder {
  outcomes: OutcomeRecorder;
  receipts: ReceiptRecorder;
  inbound: InboundMessageWriter;
}

type MessageReport =
  | { outcome: SendOutcome; receipt?: undefined; message?: undefined }
  | { receipt: MessageReceipt; outcome?: undefined; message?: undefined }
  | { message: InboundMessage; outcome?: undefined; receipt?: undefined };

/**
 * Records what the network reports about messages in shared batches: two transactions with reports of one session
 * would wait for each other's rows and share no commit.
 */
export function createReportRecorder({ db, engine, ...users }: ReportRecorderDeps): ReportRecorder {
  const writer = createBatchWriter<MessageReport, void>({
    groupOf: ({ outcome, receipt, message }) => (outcome ?? receipt ?? message).instance_id,
    isBulk: ({ message }) => message?.message.history === true,
    async write(reports) {
      const { startDeliveries, lanes, freed, decided } = await db
        .transaction()
        .execute((trx) => recordReports(trx, reports, users));
      faultPoint("report:after-commit");
      startDeliveries();
      engine.wake(lanes);
      engine.wake(freed, { changed: true });
      publishOutcomes(engine, decided, awaitedBy(reports));
      return reports.map(() => undefined);
    },
  });
  return {
    outcomes: { record: (outcome) => writer.write({ outcome }) },
    receipts: { record: (receipt) => writer.write({ receipt }) },
    inbound: { write: (message) => writer.write({ message }) },
  };
}

/** The nodes whose callers wait for outcomes, by message. */
function awaitedBy(reports: readonly MessageReport[]): Map<number, string | undefined> {
  return new Map(
    reports.flatMap(({ outcome }) => (outcome ? [[outcome.id, outcome.awaited_by] as const] : [])),
  );
}

interface RecordedReports {
  /** Call it after the commit. */
  startDeliveries(): void;
  lanes: number[];
  /** Session lanes in which a send with an unknown outcome no longer waits. */
  freed: number[];
  /** Messages that got their outcome. */
  decided: MessageRow[];
}

/** Locks the rows of messages before those of chats. */
async function recordReports(
  trx: Trx,
  reports: readonly MessageReport[],
  { events, followCampaigns, followMessages }: ReportUsers,
): Promise<RecordedReports> {
  const outcomes = reports.flatMap(({ outcome }) => outcome ?? []);
  const receipts = reports.flatMap(({ receipt }) => receipt ?? []);
  const messages = reports.flatMap(({ message }) => message ?? []);
  const ended = await applyOutcomes(trx, outcomes, receipts);
  const advanced = await applyReceipts(trx, receipts);
  const ofCampaigns = new Set([...ended.campaignMessages, ...advanced.campaignMessages]);
  if (ofCampaigns.size > 0) await followCampaigns(trx, [...ofCampaigns]);
  const received = await applyInboundMessages(trx, messages, followMessages);
  const drafts = eventsInOrder(reports, ended.decided, advanced.events, received.events);
  faultPoint("report:before-commit");
  return {
    startDeliveries: await events.record(trx, drafts),
    lanes: [...ended.lanes, ...advanced.lanes, ...received.lanes],
    freed: advanced.freed,
    decided: [...ended.decided, ...advanced.decided],
  };
}

/** The events in the order in which the network reported them; a message is sent before it is delivered. */
function eventsInOrder(
  reports: readonly MessageReport[],
  decided: readonly MessageRow[],
  ofReceipts: readonly ReceiptEvent[],
  ofMessages: readonly InboundEvent[],
): EventDraft[] {
  const receiptArrivals = reports.flatMap(({ receipt }, arrival) => (receipt ? [arrival] : []));
  const messageArrivals = reports.flatMap(({ message }, arrival) => (message ? [arrival] : []));
  const arrivalOf = ({ receipt }: ReceiptEvent) => receiptArrivals[receipt] ?? 0;
  const firstReports = new Map<number, number>();
  const note = (message: number, arrival: number) =>
    firstReports.set(message, Math.min(arrival, firstReports.get(message) ?? arrival));
  for (const [arrival, { outcome }] of reports.entries()) if (outcome) note(outcome.id, arrival);
  for (const event of ofReceipts) for (const message of event.messages) note(message, arrivalOf(event));
  const events = [
    ...decided.flatMap((row) =>
      outcomeEvent(row).map((draft) => ({ draft, arrival: firstReports.get(row.id) ?? 0 })),
    ),
    ...ofReceipts.map((event) => ({ draft: event.draft, arrival: arrivalOf(event) })),
    ...ofMessages.map(({ draft, message }) => ({ draft, arrival: messageArrivals[message] ?? 0 })),
  ];
  return events.toSorted((one, other) => one.arrival - other.arrival).map(({ draft }) => draft);
}
