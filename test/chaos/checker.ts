import type { RoundFigures } from "./chaos-row.ts";
import type { ClientSend, Ledgers, RecordedEvent } from "./ledgers.ts";

/** What the comparison of the ledgers found, in the words of docs/reliability.md; every list names the guilty. */
export interface Findings {
  /** Wanted events that neither came with a 2xx nor were given up with a reason. */
  lostEvents: string[];
  /** Accepted sends without an outcome, and messages taken by the network of which no event tells. */
  lostSends: string[];
  /** Receptions of what was never recorded, of other bytes or with a wrong signature; arrivals of refused sends. */
  unexpected: string[];
  /** Causes of which more than one event tells. */
  repeatedEffects: string[];
  /** Outcomes that the network's ledger contradicts. */
  untrue: string[];
  /** Receptions after the receiver had answered the same event with 2xx. */
  duplicateDeliveries: number;
  /** Arrivals at the network beyond the first of each id. */
  repeatedIds: number;
  /** Accepted sends that the network saw under another id than the promised one. */
  differentIds: string[];
  /** Sends that overtook an earlier one of their chat, and first tries that overtook those of an earlier event. */
  outOfOrder: string[];
  /** Answered receptions that the log of tries does not know. */
  unloggedTries: number;
}

/** Compares what the client, the network, the gateway and the receiver have written down, as Jepsen's total-queue does. */
export function checkLedgers(ledgers: Ledgers): Findings {
  const accepted = ledgers.sends
    .filter(({ known }) => known === "ok")
    .sort((a, b) => (a.order ?? 0) - (b.order ?? 0));
  const told = readTold(ledgers.events);
  return {
    lostEvents: findLostEvents(ledgers),
    lostSends: [
      ...accepted.filter((send) => outcomesOf(told, send).length === 0).map(({ key }) => key),
      ...ledgers.says
        .filter(({ key, known }) => known === "ok" && !told.received.has(key))
        .map(({ key }) => key),
    ],
    unexpected: findUnexpected(ledgers),
    repeatedEffects: [
      ...accepted.filter((send) => outcomesOf(told, send).length > 1).map(({ key }) => key),
      ...ledgers.says.filter(({ key }) => (told.received.get(key) ?? 0) > 1).map(({ key }) => key),
    ],
    untrue: findUntrue(ledgers, told, accepted),
    duplicateDeliveries: countDuplicates(ledgers),
    repeatedIds: ledgers.network.length - new Set(ledgers.network.map(({ message_id }) => message_id)).size,
    differentIds: findDifferentIds(ledgers, accepted),
    outOfOrder: [...findOvertakingSends(ledgers, accepted), ...findOvertakingEvents(ledgers)],
    unloggedTries: Math.max(0, countAnswered(ledgers) - ledgers.loggedTries),
  };
}

/** What events tell of sends, by job, and of texts from contacts, by text. */
interface Told {
  outcomes: Map<string, string[]>;
  received: Map<string, number>;
}

function readTold(events: readonly RecordedEvent[]): Told {
  const told: Told = { outcomes: new Map(), received: new Map() };
  for (const { event, body } of events) {
    const { data } = JSON.parse(body.toString("utf8"));
    if (event === "message.sent" || event === "message.failed") {
      told.outcomes.set(data.jobId, [...(told.outcomes.get(data.jobId) ?? []), event]);
    }
    const text: unknown = data?.message?.text;
    if (event === "message.received" && typeof text === "string") {
      told.received.set(text, (told.received.get(text) ?? 0) + 1);
    }
  }
  return told;
}

function outcomesOf({ outcomes }: Told, { job_id = "" }: ClientSend): string[] {
  return outcomes.get(job_id) ?? [];
}

function isSuccess(answered: number | undefined): boolean {
  return answered !== undefined && answered >= 200 && answered < 300;
}

function findLostEvents({ events, receptions }: Ledgers): string[] {
  const answered = new Set(
    receptions.filter((one) => isSuccess(one.answered)).map(({ event_id }) => event_id),
  );
  return events
    .filter(
      ({ event_id, status }) => !answered.has(event_id) && status !== "failed" && status !== "discarded",
    )
    .map(({ event, event_id }) => `${event} ${event_id}`);
}

function findUnexpected({ sends, network, events, receptions }: Ledgers): string[] {
  const bodies = new Map(events.map(({ event_id, body }) => [event_id, body]));
  const refused = new Set(sends.filter(({ known }) => known === "fail").map(({ key }) => key));
  return [
    ...receptions
      .filter(({ event_id, raw, signed }) => !signed || !bodies.get(event_id)?.equals(raw))
      .map(({ event_id, signed }) => `${event_id}${signed ? "" : " (signature)"}`),
    ...network.flatMap(({ key }) => (key !== undefined && refused.has(key) ? [`refused: ${key}`] : [])),
  ];
}

/** A send that is told to be sent must have arrived, and one that failed for a known reason must not. */
function findUntrue({ network }: Ledgers, told: Told, accepted: readonly ClientSend[]): string[] {
  const arrived = new Set(network.map(({ message_id }) => message_id));
  return accepted
    .filter((send) => outcomesOf(told, send).includes("message.sent") && !arrived.has(send.message_id ?? ""))
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

function countAnswered({ receptions }: Ledgers): number {
  return receptions.filter(({ answered }) => answered !== undefined).length;
}

function findDifferentIds({ network }: Ledgers, accepted: readonly ClientSend[]): string[] {
  const promised = new Map(accepted.map(({ key, message_id }) => [key, message_id]));
  const different = network.filter(
    ({ key = "", message_id }) => promised.has(key) && promised.get(key) !== message_id,
  );
  return [...new Set(different.map(({ key = "" }) => key))];
}

/** Per chat, those that came to the network before one that was taken earlier. */
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

/** After so many failures an event steps aside, and later ones may pass it. */
const FAILURES_BEFORE_PASSING = 3;

/** Per chat, events whose first try came before that of an earlier one that had not failed often. */
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

/** What may be under way when something dies. */
export interface InFlight {
  kills: number;
  /** Sends that a session's lane has in flight at most. */
  sends: number;
  /** Deliveries that the lanes of all webhooks have in flight at most. */
  deliveries: number;
}

/** One session and one webhook, as their lanes are wide. */
export const IN_FLIGHT = { sends: 16, deliveries: 4 } as const;

/** The findings as the figures of a round, with each bar of docs/reliability.md that they break. */
export function judge(ledgers: Ledgers, { kills, sends, deliveries }: InFlight): RoundFigures {
  const found = checkLedgers(ledgers);
  const { duplicateDeliveries, repeatedIds, unloggedTries } = found;
  return {
    kills,
    sends: ledgers.sends.filter(({ known }) => known === "ok").length,
    events: ledgers.events.length,
    lost: found.lostEvents.length + found.lostSends.length,
    unexpected: found.unexpected.length + found.repeatedEffects.length + found.untrue.length,
    ...{ duplicateDeliveries, repeatedIds },
    differentIds: found.differentIds.length,
    orderViolations: found.outOfOrder.length,
    breaches: [
      ...atMost(0, "lost events", found.lostEvents),
      ...atMost(0, "lost sends", found.lostSends),
      ...atMost(0, "unexpected", found.unexpected),
      ...atMost(0, "effects that came twice", found.repeatedEffects),
      ...atMost(0, "outcomes that are not true", found.untrue),
      ...atMost(0, "different ids of a send", found.differentIds),
      ...atMost(0, "out of order", found.outOfOrder),
      ...atMost(deliveries * kills, "duplicate deliveries", duplicateDeliveries),
      ...atMost(sends * kills, "repeated ids", repeatedIds),
      ...atMost(deliveries * kills, "tries that no log knows", unloggedTries),
    ],
  };
}

/** A sentence when there are more than may be. */
export function atMost(bar: number, what: string, found: number | readonly unknown[]): string[] {
  const count = typeof found === "number" ? found : found.length;
  if (count <= bar) return [];
  const names = typeof found === "number" ? "" : `: ${found.slice(0, 5).join(", ")}`;
  return [`${what}: ${count} where ${bar} may be${names}`];
}

/** The figures of a round that has several parts. */
export function addUp(parts: readonly RoundFigures[]): RoundFigures {
  const total = (name: keyof RoundFigures) => {
    const counts = parts.map((part) => part[name]).filter((count) => typeof count === "number");
    return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
  };
  const takeOvers = parts.flatMap(({ takeOverSeconds }) => takeOverSeconds ?? []);
  return {
    kills: total("kills"),
    sends: total("sends"),
    events: total("events"),
    lost: total("lost"),
    unexpected: total("unexpected"),
    duplicateDeliveries: total("duplicateDeliveries"),
    repeatedIds: total("repeatedIds"),
    differentIds: total("differentIds"),
    orderViolations: total("orderViolations"),
    takeOverSeconds: takeOvers.length === 0 ? undefined : Math.max(...takeOvers),
    times: parts.flatMap(({ times = [] }) => times),
    measured: Object.assign({}, ...parts.map(({ measured }) => measured)),
    breaches: parts.flatMap(({ breaches }) => breaches),
  };
}
