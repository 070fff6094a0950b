import { createBatchWriter } from "../../../engine/batch-queue.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { faultPoint } from "../../../platform/fault-point.ts";
import { causedBy, type EventDraft, type EventRecorder } from "../../events/events.ts";
import {
  applyInboundMessages,
  type InboundEvent,
  type InboundFollower,
} from "../inbound/apply-inbound-messages.ts";
import type { InboundWrite, InboundWriter } from "../inbound/inbound-recorder.ts";
import type { MessageRow, MessageView } from "../log/message-view.ts";
import type { MessageReceipt } from "../receipts/message-receipt.ts";
import { applyReceipts, type ReceiptEvent, type ReceiptRecorder } from "../receipts/record-receipts.ts";
import { publishOutcomes } from "../send/outcome/outcome-watch.ts";
import {
  applyOutcomes,
  type OutcomeFollower,
  type OutcomeRecorder,
  outcomeEvent,
  type SendOutcome,
} from "../send/record-outcome.ts";
import type { MessageCounters } from "./create-message-counters.ts";

export interface ReportRecorderDeps<Change> extends ReportWriters<Change> {
  db: Db;
  engine: Engine;
  counters?: MessageCounters;
}

/** What else writes in the transaction of a batch. */
interface ReportWriters<Change> {
  events: EventRecorder;
  outcomeFollowers: readonly OutcomeFollower[];
  inboundFollowers: readonly InboundFollower[];
  /** Stores changes of sessions; false for those that were not stored, because the session has another owner. */
  saveChanges: (trx: Trx, changes: readonly Change[]) => Promise<boolean[]>;
}

/** `Change`: of a session, which commits together with its messages. */
export interface ReportRecorder<Change> {
  outcomes: OutcomeRecorder;
  receipts: ReceiptRecorder;
  inbound: InboundWriter<Change>;
}

type MessageReport<Change> =
  | { outcome: SendOutcome; receipt?: undefined; inbound?: undefined }
  | { receipt: MessageReceipt; outcome?: undefined; inbound?: undefined }
  | { inbound: InboundWrite<Change>; outcome?: undefined; receipt?: undefined };

/**
 * Records what the network reports about messages in shared batches: two transactions with reports of one session
 * would wait for each other's rows and share no commit.
 */
export function createReportRecorder<Change>({
  db,
  engine,
  counters,
  ...writers
}: ReportRecorderDeps<Change>): ReportRecorder<Change> {
  const writer = createBatchWriter<MessageReport<Change>, boolean>({
    groupOf: ({ outcome, receipt, inbound }) => (outcome ?? receipt ?? inbound).instance_id,
    isBulk: ({ inbound }) => inbound?.messages.some(({ message }) => message.history) === true,
    async write(reports) {
      const recorded = await db.transaction().execute((trx) => recordReports(trx, reports, writers));
      const { startDeliveries, lanes, freed, decided, saved } = recorded;
      faultPoint("report:after-commit");
      if (saved.size > 0) faultPoint("inbound:after-commit");
      startDeliveries();
      engine.wake(lanes);
      engine.wake(freed, { changed: true });
      publishOutcomes(engine, decided, awaitedBy(reports));
      for (const message of decided) counters?.countOutcome(message);
      for (const { data } of recorded.received) counters?.countReceived(data.message as MessageView);
      return reports.map((report) => isStored(report, saved));
    },
  });
  return {
    outcomes: { record: async (outcome) => void (await writer.write({ outcome })) },
    receipts: { record: async (receipt) => void (await writer.write({ receipt })) },
    inbound: { write: (inbound) => writer.write({ inbound }) },
  };
}

/** The nodes whose callers wait for outcomes, by message. */
function awaitedBy(reports: readonly MessageReport<unknown>[]): Map<number, string | undefined> {
  return new Map(
    reports.flatMap(({ outcome }) => (outcome ? [[outcome.id, outcome.awaited_by] as const] : [])),
  );
}

interface RecordedReports<Change> {
  /** Whether each change of a session was stored. */
  saved: ReadonlyMap<Change, boolean>;
  /** Call it after the commit. */
  startDeliveries(): void;
  lanes: number[];
  /** Session lanes in which a send with an unknown outcome no longer waits. */
  freed: number[];
  /** Messages that got their outcome. */
  decided: MessageRow[];
  /** The received messages that its events report. */
  received: EventDraft[];
}

/** Messages are stored only with the change of their session; to its next owner, the network delivers them again. */
function isStored<Change>({ inbound }: MessageReport<Change>, saved: ReadonlyMap<Change, boolean>): boolean {
  return inbound?.change === undefined || saved.get(inbound.change) === true;
}

/** Locks the lanes of sessions first, and the rows of messages before those of chats. */
async function recordReports<Change>(
  trx: Trx,
  all: readonly MessageReport<Change>[],
  { events, outcomeFollowers, inboundFollowers, saveChanges }: ReportWriters<Change>,
): Promise<RecordedReports<Change>> {
  const changes = all.flatMap(({ inbound }) => (inbound?.change === undefined ? [] : [inbound.change]));
  const results = changes.length > 0 ? await saveChanges(trx, changes) : [];
  const saved = new Map(changes.map((change, nth) => [change, results[nth] === true]));
  const reports = all.filter((report) => isStored(report, saved));
  const outcomes = reports.flatMap(({ outcome }) => outcome ?? []);
  const receipts = reports.flatMap(({ receipt }) => receipt ?? []);
  const messages = reports.flatMap(({ inbound }) => inbound?.messages ?? []);
  const ended = await applyOutcomes(trx, outcomes, receipts);
  const advanced = await applyReceipts(trx, receipts);
  const ofCampaigns = new Set([...ended.campaignMessages, ...advanced.campaignMessages]);
  if (ofCampaigns.size > 0) for (const follow of outcomeFollowers) await follow(trx, [...ofCampaigns]);
  const received = await applyInboundMessages(trx, messages, inboundFollowers);
  const drafts = eventsInOrder(reports, ended.decided, advanced.events, received.events);
  faultPoint("report:before-commit");
  if (changes.length > 0) faultPoint("inbound:before-commit");
  return {
    saved,
    startDeliveries: await events.record(trx, drafts),
    lanes: [...ended.lanes, ...advanced.lanes, ...received.lanes],
    freed: advanced.freed,
    decided: [...ended.decided, ...advanced.decided],
    received: received.events.flatMap(({ draft }) => (draft.event === "message.received" ? [draft] : [])),
  };
}

/** The events in the order in which the network reported them; a message is sent before it is delivered. */
function eventsInOrder(
  reports: readonly MessageReport<unknown>[],
  decided: readonly MessageRow[],
  ofReceipts: readonly ReceiptEvent[],
  ofMessages: readonly InboundEvent[],
): EventDraft[] {
  const receiptArrivals = reports.flatMap(({ receipt }, arrival) => (receipt ? [arrival] : []));
  const messageArrivals = reports.flatMap(({ inbound }, arrival) =>
    (inbound?.messages ?? []).map(() => arrival),
  );
  const arrivalOf = ({ receipt }: ReceiptEvent) => receiptArrivals[receipt] ?? 0;
  const firstReports = new Map<number, number>();
  const note = (message: number, arrival: number) =>
    firstReports.set(message, Math.min(arrival, firstReports.get(message) ?? arrival));
  for (const [arrival, { outcome }] of reports.entries()) if (outcome) note(outcome.id, arrival);
  for (const event of ofReceipts) for (const message of event.messages) note(message, arrivalOf(event));
  const traces = new Map(
    reports.flatMap(({ outcome }) => (outcome?.trace ? [[outcome.id, outcome.trace] as const] : [])),
  );
  const events = [
    ...decided.flatMap((row) =>
      outcomeEvent(row).map((draft) => ({
        draft: causedBy(draft, traces.get(row.id)),
        arrival: firstReports.get(row.id) ?? 0,
      })),
    ),
    ...ofReceipts.map((event) => ({ draft: event.draft, arrival: arrivalOf(event) })),
    ...ofMessages.map(({ draft, message }) => ({ draft, arrival: messageArrivals[message] ?? 0 })),
  ];
  return events.toSorted((one, other) => one.arrival - other.arrival).map(({ draft }) => draft);
}
