import type { E2eStory, PairedInstance } from "../e2e/e2e-story.ts";
import type { Receiver } from "../servers/receiver.ts";

/** How something that a client asked for ended, as far as the client knows. */
export type Known = "ok" | "fail" | "unknown";

/** A message that a client asked to send. Its key stands in its text and nowhere else. */
export interface ClientSend {
  key: string;
  chat: string;
  known: Known;
  /** Row number of an accepted send: the order in which they were taken. */
  order?: number;
  job_id?: string;
  message_id?: string;
}

/** A message that somebody on the network wrote to an instance; `ok` when the network has taken it. */
export interface ContactSay {
  key: string;
  known: Known;
}

/** A message that arrived at the network, repeated ones too, in the order of arrival. */
export interface NetworkArrival {
  message_id: string;
  /** Absent where the network cannot read what it carries. */
  key?: string;
  /** The person that it went to; absent where the network tells only devices. */
  chat?: string;
}

/** A delivery that arrived at a receiver, in the order of arrival. */
export interface Reception {
  event_id: string;
  /** Path of the webhook's address: each instance of a story has its own. */
  path: string;
  raw: Buffer;
  /** What the receiver answered; absent when it did not, or the connection went first. */
  answered?: number;
  signed: boolean;
}

/** An event as the gateway recorded it, and what became of it for one receiver. */
export interface EventLedgerEntry {
  event_id: string;
  event: string;
  instance_id: number;
  sequence: number;
  chat: string;
  /** Where it is wanted. */
  path: string;
  body: Buffer;
  /** Null when the webhook wanted it and there is no delivery. */
  status: "pending" | "retrying" | "parked" | "delivered" | "failed" | "discarded" | null;
  attempts: number;
}

/** What the client, the network, the gateway and the receiver have written down, after everything has drained. */
export interface Ledgers {
  sends: ClientSend[];
  says: ContactSay[];
  network: NetworkArrival[];
  events: EventLedgerEntry[];
  receptions: Reception[];
  /** Tries in the gateway's log that the receiver answered. */
  loggedTries: number;
}

/** Rows of a statement on the gateway's database. */
export type Rows = <Row extends object>(text: string, ...values: unknown[]) => Promise<Row[]>;

export interface LedgerSources {
  rows: Rows;
  receiver: Receiver;
  sends?: ClientSend[];
  says?: ContactSay[];
  /** When it is another than the sandbox. */
  network?: NetworkArrival[];
}

/** Reads the ledgers of the gateway, the sandbox network and the one receiver of all webhooks. */
export async function readLedgers(sources: LedgerSources): Promise<Ledgers> {
  const { rows, receiver, sends = [], says = [] } = sources;
  return {
    sends,
    says,
    network: sources.network ?? (await readSandbox(rows)),
    events: await readEvents(rows),
    receptions: readReceptions(receiver),
    loggedTries: await countTries(rows),
  };
}

function readSandbox(rows: Rows): Promise<NetworkArrival[]> {
  return rows<NetworkArrival>(
    `select message_id, content ->> 'text' as key, split_part(chat, '@', 1) as chat from sandbox.ledger
     where action = 'send' and outcome in ('accepted', 'slow', 'silent') order by id`,
  );
}

// Of the wanted ones only, since nobody is owed the others.
function readEvents(rows: Rows): Promise<EventLedgerEntry[]> {
  return rows<EventLedgerEntry>(
    `select e.event_id, e.event, e.instance_id, e.sequence, e.chat, e.body, d.status,
       coalesce(d.attempts, 0) as attempts, regexp_replace(w.url, '^https?://[^/]+', '') as path
     from event e
     join webhook w on (w.instance_id = e.instance_id or w.instance_id is null)
       and e.event = any (w.event_names) and not (w.exclude && e.tags) and w.created_at < e.created_at
     left join delivery d on d.event_id = e.event_id and d.webhook_id = w.id
     order by e.instance_id, e.sequence`,
  );
}

function readReceptions(receiver: Receiver): Reception[] {
  const forged = new Set(receiver.forged);
  return receiver.received.map(({ path, body, raw, responseStatus }) => ({
    event_id: String(body?.event_id),
    path,
    raw,
    answered: responseStatus,
    signed: !forged.has(raw.toString("utf8")),
  }));
}

async function countTries(rows: Rows): Promise<number> {
  const [counted] = await rows<{ count: number }>(
    "select count(*)::int as count from attempt where status_code is not null",
  );
  return counted?.count ?? 0;
}

/** So many people write to an instance at once; each text becomes known when the network has taken it. */
export function receiveTexts(
  story: E2eStory,
  instance: PairedInstance,
  name: string,
  count: number,
): ContactSay[] {
  const client = story.clientOf(instance);
  return Array.from({ length: count }, (_, i) => {
    const said: ContactSay = { key: `${name}-${i}`, known: "unknown" };
    const from = `5521966660${String(i).padStart(3, "0")}`;
    client.sandboxReceive({ id: instance.id, from, text: said.key }).then(
      () => {
        said.known = "ok";
      },
      () => {},
    );
    return said;
  });
}
