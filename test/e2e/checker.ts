import type { ClientSend, EventLedgerEntry, Ledgers } from "./ledgers.ts";

/** The findings of the comparison, as docs/reliability/reliability.md names them. Each list identifies the entries. */
export interface LedgerFindings {
  /** Wanted events that neither arrived with 2xx nor failed. */
  lostEvents: string[];
  /** Failed events: every receiver of these stories accepts them in the end. */
  givenUp: string[];
  /** Accepted sends without an outcome, and received messages that no event reports. */
  lostSends: string[];
  /** Accepted sends that failed: every contact of these stories can be reached. */
  failedSends: string[];
  /**
   * Deliveries of unrecorded events, with other bytes, a wrong signature or another instance's address, and arrivals
   * of refused or unrequested sends, or at another contact.
   */
  unexpected: string[];
  /** Causes with more than one event. */
  repeatedEffects: string[];
  /** Outcomes that the network's ledger contradicts. */
  untrue: string[];
  /** Deliveries after the receiver returned 2xx for the same event. */
  duplicateDeliveries: number;
  /** Arrivals after the first of each id. */
  repeatedIds: number;
  /** Accepted sends that reached the network under another id. */
  differentIds: string[];
  /** Sends that overtook an earlier one of their chat, and first attempts that overtook those of an earlier event. */
  outOfOrder: string[];
  /** Received requests without an attempt in the log. */
  unloggedTries: number;
  /** Logged responses that no receiver sent. */
  inventedTries: number;
}

/** Compares the ledgers of client, network, gateway and receiver, like Jepsen's total-queue checker. */
export function checkLedgers(ledgers: Ledgers): LedgerFindings {
  const accepted = ledgers.sends
    .filter(({ known }) => known === "ok")
    .sort((a, b) => (a.order ?? 0) - (b.order ?? 0));
  const reported = readReceived(ledgers.events);
  const unlogged = countResponses(ledgers) - ledgers.loggedTries;
  return {
    lostEvents: findLostEvents(ledgers),
    givenUp: ledgers.events.filter(isGivenUp).map(nameOf),
    lostSends: [
      ...accepted.filter((send) => outcomesOf(reported, send).length === 0).map(({ key }) => key),
      ...ledgers.says
        .filter(({ key, known }) => known === "ok" && !reported.received.has(key))
        .map(({ key }) => key),
    ],
    failedSends: accepted.flatMap((send) =>
      outcomesOf(reported, send).flatMap(({ event, code }) =>
        event === "message.failed" ? [`${send.key} (${code})`] : [],
      ),
    ),
    unexpected: [...findStrangeReceptions(ledgers), ...findStrangeArrivals(ledgers)],
    repeatedEffects: [
      ...accepted.filter((send) => outcomesOf(reported, send).length > 1).map(({ key }) => key),
      ...ledgers.says.filter(({ key }) => (reported.received.get(key) ?? 0) > 1).map(({ key }) => key),
    ],
    untrue: findUntrue(ledgers, reported, accepted),
    duplicateDeliveries: countDuplicates(ledgers),
    repeatedIds: ledgers.network.length - new Set(ledgers.network.map(({ message_id }) => message_id)).size,
    differentIds: findDifferentIds(ledgers, accepted),
    outOfOrder: [...findOvertakingSends(ledgers, accepted), ...findOvertakingEvents(ledgers)],
    unloggedTries: Math.max(0, unlogged),
    inventedTries: Math.max(0, -unlogged),
  };
}

interface Outcome {
  event: "message.sent" | "message.failed";
  code?: string;
}

/** Outcomes of sends by job, and inbound texts by text. */
interface ReceivedEvent {
  outcomes: Map<string, Outcome[]>;
  received: Map<string, number>;
}

function readReceived(events: readonly EventLedgerEntry[]): ReceivedEvent {
  const reported: ReceivedEvent = { outcomes: new Map(), received: new Map() };
  for (const { event, body } of events) {
    const { data } = JSON.parse(body.toString("utf8"));
    if (event === "message.sent" || event === "message.failed") {
      const outcome: Outcome = { event, code: data.error?.code };
      reported.outcomes.set(data.jobId, [...(reported.outcomes.get(data.jobId) ?? []), outcome]);
    }
    const text: unknown = data?.message?.text;
    if (event === "message.received" && typeof text === "string") {
      reported.received.set(text, (reported.received.get(text) ?? 0) + 1);
    }
  }
  return reported;
}

function outcomesOf({ outcomes }: ReceivedEvent, { job_id = "" }: ClientSend): Outcome[] {
  return outcomes.get(job_id) ?? [];
}

function isSuccess(answered: number | undefined): boolean {
  return answered !== undefined && answered >= 200 && answered < 300;
}

function findLostEvents({ events, receptions }: Ledgers): string[] {
  const answered = new Set(
    receptions.filter((one) => isSuccess(one.answered)).map(({ event_id }) => event_id),
  );
  return events.filter((one) => !answered.has(one.event_id) && !isGivenUp(one)).map(nameOf);
}

function isGivenUp({ status }: EventLedgerEntry): boolean {
  return status === "failed" || status === "discarded";
}

function nameOf({ event, event_id }: EventLedgerEntry): string {
  return `${event} ${event_id}`;
}

function findStrangeReceptions({ events, receptions }: Ledgers): string[] {
  const recorded = new Map(events.map((event) => [event.event_id, event]));
  return receptions.flatMap(({ event_id, path, raw, signed }) => {
    const event = recorded.get(event_id);
    if (!signed) return [`${event_id} (signature)`];
    if (!event?.body.equals(raw)) return [event_id];
    return event.path === path ? [] : [`${event_id} (at ${path})`];
  });
}

/** Networks may know a contact by a number with another prefix, as in Brazil. */
const SAME_DIGITS = 8;

function findStrangeArrivals({ sends, network }: Ledgers): string[] {
  const asked = new Map(sends.map((send) => [send.key, send]));
  return network.flatMap(({ key, chat }) => {
    const send = asked.get(key ?? "");
    // Without the client's ledger or readable messages, the requested sends are unknown.
    if (key === undefined || asked.size === 0) return [];
    if (!send) return [`nobody asked for: ${key}`];
    if (send.known === "fail") return [`refused: ${key}`];
    const isThere = chat === undefined || chat.slice(-SAME_DIGITS) === send.chat.slice(-SAME_DIGITS);
    return isThere ? [] : [`at ${chat}: ${key}`];
  });
}

/** A send reported as sent must have arrived, and one that failed for a known reason must not. */
function findUntrue(
  { network }: Ledgers,
  reported: ReceivedEvent,
  accepted: readonly ClientSend[],
): string[] {
  const arrived = new Set(network.map(({ message_id }) => message_id));
  return accepted
    .filter((send) => {
      const hasArrived = arrived.has(send.message_id ?? "");
      return outcomesOf(reported, send).some(({ event, code }) =>
        event === "message.sent" ? !hasArrived : hasArrived && code !== "UNKNOWN_OUTCOME",
      );
    })
    .map(({ key }) => key);
}

function countDuplicates({ receptions }: Ledgers): number {
  const answered = new Set<string>();
  let duplicates = 0;
  for (const { event_id, answered: status } of receptions) {
    if (answered.has(event_id)) duplicates += 1;
    if (isSuccess(status)) answered.add(event_id);
  }
  return duplicates;
}

function countResponses({ receptions }: Ledgers): number {
  return receptions.filter(({ answered }) => answered !== undefined).length;
}

function findDifferentIds({ network }: Ledgers, accepted: readonly ClientSend[]): string[] {
  const promised = new Map(accepted.map(({ key, message_id }) => [key, message_id]));
  const different = network.filter(
    ({ key = "", message_id }) => promised.has(key) && promised.get(key) !== message_id,
  );
  return [...new Set(different.map(({ key = "" }) => key))];
}

/** Sends that reached the network before an earlier accepted one of their chat. */
function findOvertakingSends({ network }: Ledgers, accepted: readonly ClientSend[]): string[] {
  const place = new Map<string, number>();
  for (const [index, { message_id }] of network.entries()) {
    if (!place.has(message_id)) place.set(message_id, index);
  }
  const latest = new Map<string, number>();
  const overtaking: string[] = [];
  for (const { key, chat, message_id = "" } of accepted) {
    const at = place.get(message_id);
    if (at === undefined) continue;
    if (at < (latest.get(chat) ?? -1)) overtaking.push(key);
    else latest.set(chat, at);
  }
  return overtaking;
}

/** After so many failures, later events may pass. */
const FAILURES_BEFORE_PASSING = 3;

/** Events whose first attempt preceded that of an earlier one of their chat, unless that one had failed often. */
function findOvertakingEvents({ events, receptions }: Ledgers): string[] {
  const place = new Map<string, number>();
  for (const [index, { event_id }] of receptions.entries()) {
    if (!place.has(event_id)) place.set(event_id, index);
  }
  const latest = new Map<string, number>();
  const overtaking: string[] = [];
  for (const { event_id, instance_id, chat, attempts } of events) {
    const at = place.get(event_id);
    if (at === undefined) continue;
    const key = `${instance_id}/${chat}`;
    const before = latest.get(key) ?? -1;
    if (at < before) overtaking.push(event_id);
    else if (attempts <= FAILURES_BEFORE_PASSING) latest.set(key, at);
  }
  return overtaking;
}
