import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Database } from "../../src/platform/db/database.ts";
import { isSigned } from "../servers/receiver.ts";

/** Checks one signature in so many: checking all would distort the measurement. */
const CHECK_ONE_OF = 50;
const PAGE = 20_000;

/** Healthy receivers that record every id with a digest of its body. The bodies would not fit into memory. */
export interface Receivers {
  readonly urls: readonly string[];
  /** Milliseconds from the event's `data.at` to its arrival. */
  readonly lags: number[];
  readonly count: number;
  trust(secret: string): void;
  /** Compares the received deliveries with the gateway's events. */
  check(database: Database): Promise<DeliveryFindings>;
  close(): void;
}

export interface DeliveryFindings {
  events: number;
  lost: number;
  duplicates: number;
  /** Unrecorded ids, other bytes or wrong signatures. */
  unexpected: number;
  /** Requests without a logged attempt, and the reverse. */
  unlogged: number;
}

interface Seen {
  digest: string;
  times: number;
}

export async function startReceivers(count: number): Promise<Receivers> {
  const seen = new Map<string, Seen>();
  const lags: number[] = [];
  const secrets = new Set<string>();
  let [received, wrong] = [0, 0];
  const take = (raw: Buffer, headers: Parameters<typeof isSigned>[0]["headers"]) => {
    const body = JSON.parse(raw.toString("utf8"));
    if (typeof body.data?.at === "number") lags.push(Date.now() - body.data.at);
    const digest = createHash("sha256").update(raw).digest("hex").slice(0, 16);
    const before = seen.get(body.event_id);
    if (before && before.digest !== digest) wrong += 1;
    seen.set(body.event_id, { digest, times: (before?.times ?? 0) + 1 });
    received += 1;
    if (received % CHECK_ONE_OF !== 0) return;
    const item = { raw, headers, body, at: 0 };
    if (![...secrets].some((secret) => isSigned(item, secret))) wrong += 1;
  };
  const servers = await Promise.all(Array.from({ length: count }, () => listen(take)));
  return {
    urls: servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
    lags,
    get count() {
      return received;
    },
    trust: (secret) => void secrets.add(secret),
    check: (database) => compare(database, seen, wrong, received),
    close() {
      for (const server of servers) server.close().closeAllConnections();
    },
  };
}

function listen(
  take: (raw: Buffer, headers: Parameters<typeof isSigned>[0]["headers"]) => void,
): Promise<Server> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      response.writeHead(200).end();
      take(Buffer.concat(parts), request.headers);
    });
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

interface Row {
  event_id: string;
  digest: string;
}

async function compare(
  database: Database,
  seen: ReadonlyMap<string, Seen>,
  wrong: number,
  received: number,
): Promise<DeliveryFindings> {
  const found: DeliveryFindings = { events: 0, lost: 0, duplicates: 0, unexpected: wrong, unlogged: 0 };
  for (let rows = await readPage(database, ""); rows.length > 0; ) {
    for (const row of rows) count(found, row, seen.get(row.event_id));
    rows = await readPage(database, rows.at(-1)?.event_id ?? "");
  }
  const known = found.events - found.lost;
  found.unexpected += seen.size - known;
  const { rows } = await database.pool.query<{ count: number }>(
    "select count(*)::int as count from attempt where status_code is not null",
  );
  found.unlogged = received - (rows[0]?.count ?? 0);
  return found;
}

async function readPage({ pool }: Database, after: string): Promise<Row[]> {
  const { rows } = await pool.query<Row>(
    `select d.event_id, encode(substring(sha256(e.body) for 8), 'hex') as digest
     from delivery d join event e on e.event_id = d.event_id and e.created_at = d.created_at
     where d.event_id > $1 order by d.event_id limit ${PAGE}`,
    [after],
  );
  return rows;
}

/** Every receiver is healthy, so an event that did not arrive is lost. */
function count(found: DeliveryFindings, { digest }: Row, one: Seen | undefined): void {
  found.events += 1;
  if (!one) found.lost += 1;
  else if (one.digest !== digest) found.unexpected += 1;
  found.duplicates += (one?.times ?? 1) - 1;
}
