import type { E2eStory, PairedInstance } from "../e2e/e2e-story.ts";
import type { Receiver } from "../servers/receiver.ts";

/** How a request ended, as far as the client knows. */
export type Known = "ok" | "fail" | "unknown";

/** A requested message. Its text alone contains its key. */
export interface ClientSend {
  key: string;
  chat: string;
  known: Known;
  /** Row number of an accepted send, which gives the order of acceptance. */
  order?: number;
  job_id?: string;
  message_id?: string;
}

/** A message of a contact to an instance; `ok` once the network has accepted it. */
export interface ContactSay {
  key: string;
  known: Known;
}

/** An arrival at the network, in order, including repeated ones. */
export interface NetworkArrival {
  message_id: string;
  /** Undefined if the network cannot read the message. */
  key?: string;
  /** The recipient; undefined if the network sees only devices. */
  chat?: string;
}

/** A delivery that arrived at a receiver, in order. */
export interface Reception {
  event_id: string;
  /** Webhook path, separate for each instance. */
  path: string;
  raw: Buffer;
  /** Status that the receiver returned; undefined if it did not, or the connection broke. */
  answered?: number;
  signed: boolean;
}

/** A recorded event and the state of its delivery to one receiver. */
export interface EventLedgerEntry {
  event_id: string;
  event: string;
  instance_id: number;
  sequence: number;
  chat: string;
  /** Path of the subscribed webhook. */
  path: string;
  body: Buffer;
  /** Null if the webhook subscribed but no delivery exists. */
  status: "pending" | "retrying" | "parked" | "delivered" | "failed" | "discarded" | null;
  attempts: number;
}

/** The ledgers of client, network, gateway and receiver after all queues are empty. */
export interface Ledgers {
  sends: ClientSend[];
  says: ContactSay[];
  network: NetworkArrival[];
  events: EventLedgerEntry[];
  receptions: Reception[];
  /** Attempts in the gateway's log with a response. */
  loggedTries: number;
}

/** Runs SQL on the gateway's database. */
export type Rows = <Row extends object>(text: string, ...values: unknown[]) => Promise<Row[]>;

export interface LedgerSources {
  rows: Rows;
  receiver: Receiver;
  sends?: ClientSend[];
  says?: ContactSay[];
  /** If it is not the sandbox. */
  network?: NetworkArrival[];
}

/** Reads the ledgers of the gateway, the sandbox and the one receiver of all webhooks. */
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

// Only subscribed events.
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

/** Contacts write to an instance concurrently. Each text counts when the network has accepted it. */
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
