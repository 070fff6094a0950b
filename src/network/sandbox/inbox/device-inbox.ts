import type { Pool } from "pg";
import type { Jid } from "../../driver.ts";
import type { SandboxNetwork } from "../sandbox-network.ts";
import type { InboxEntry, QueuedInboxEntry } from "./inbox-entry.ts";

/** Inbox entries read at once for one device; bounds the memory of a session. */
export const INBOX_PAGE_SIZE = 50;

export interface InboxPageRequest {
  device: number;
  session: string;
  /** Chats with an entry in progress; later entries of these chats wait. */
  busy: string[];
}

/** The network's view of a session: still open, or why its socket is closed. */
export type SocketState = "open" | "lost" | "replaced" | "unlinked" | "banned";

export interface InboxPage {
  state: SocketState;
  entries: QueuedInboxEntry[];
}

interface PageRow {
  ord: number;
  session: string | null;
  unlinked: boolean;
  banned: boolean;
  entry_id: number | null;
  chat: Jid;
  kind: QueuedInboxEntry["kind"];
  body: QueuedInboxEntry["body"];
  due_at: Date;
  offline: boolean;
}

/** Reads the due entries of several devices, each in order, and whether each session's socket is still open. */
export async function readInboxPages(pool: Pool, requests: InboxPageRequest[]): Promise<InboxPage[]> {
  const numbered = requests.map((request, ord) => ({ ...request, ord }));
  const { rows } = await pool.query<PageRow>({
    name: "sandbox-pages",
    text: `
      select r.ord, d.session, d.id is null or d.unlinked_at is not null as unlinked,
             d.banned_at is not null as banned,
             m.id::float8 as entry_id, m.chat, m.kind, m.body, m.due_at, m.created_at < d.logged_in_at as offline
      from jsonb_to_recordset($1) as r (ord int, device bigint, busy text[])
      left join sandbox.device d on d.id = r.device
      left join lateral (
        select * from sandbox.inbox m
        where m.device = r.device and m.due_at <= now() and m.chat <> all (r.busy)
        order by m.due_at, m.id limit ${INBOX_PAGE_SIZE}
      ) m on true
      order by r.ord, m.due_at, m.id`,
    values: [JSON.stringify(numbered)],
  });
  const pages = requests.map((): InboxPage => ({ state: "lost", entries: [] }));
  for (const row of rows) addRow(pages[row.ord], requests[row.ord], row);
  return pages;
}

function addRow(page: InboxPage | undefined, request: InboxPageRequest | undefined, row: PageRow): void {
  if (!page || !request) return;
  page.state = stateOf(row, request.session);
  if (row.entry_id === null) return;
  const { chat, kind, body, due_at, offline } = row;
  page.entries.push({ id: row.entry_id, chat, kind, body, at: due_at, offline } as QueuedInboxEntry);
}

function stateOf(row: PageRow, session: string): SocketState {
  if (row.banned) return "banned";
  if (row.unlinked) return "unlinked";
  if (row.session === session) return "open";
  return row.session === null ? "lost" : "replaced";
}

/** Deletes acknowledged entries; returns the devices that now receive a delivery status. */
export async function acknowledgeEntries(pool: Pool, entries: number[]): Promise<number[]> {
  const { rows } = await pool.query<{ device: number }>({
    name: "sandbox-take",
    text: `
      with acknowledged as (
        delete from sandbox.inbox where id = any ($1::bigint[]) returning id, device, body
      ), notified as (
        insert into sandbox.inbox (device, chat, kind, body)
        select d.id, t.body->'receipt'->>'chat', 'status',
               jsonb_build_object('ids', jsonb_build_array(t.body->'id'), 'from_me', true, 'status', 'delivered',
                 'by', case when t.body->'receipt'->>'chat' like '%@g.us'
                   then jsonb_build_object('phone', r.phone, 'push_name', null) end)
        from acknowledged t
        join sandbox.device r on r.id = t.device
        join sandbox.device d on d.phone = t.body->'receipt'->>'phone' and d.account_id = r.account_id
         and d.linked_at is not null and d.unlinked_at is null
        order by t.id
        returning device
      )
      select distinct device::float8 as device from notified`,
    values: [entries],
  });
  return rows.map((row) => row.device);
}

/** An inbox entry for a phone. */
interface NewInboxEntry {
  phone: string;
  chat: Jid;
  entry: InboxEntry;
  /** Phone of the writer. */
  writer: string;
}

/**
 * Adds an entry to the inbox of every device of a phone, unless it has blocked the writer; returns these
 * devices.
 */
export async function postInboxEntry(
  { client, account_id }: SandboxNetwork,
  { phone, chat, entry, writer }: NewInboxEntry,
): Promise<number[]> {
  const { rows } = await client.query<{ device: number }>({
    name: "sandbox-post",
    text: `
      with reached as (
        select id from sandbox.device
        where phone = $1 and account_id = $6 and linked_at is not null and unlinked_at is null
      ), posted as (
        insert into sandbox.inbox (device, chat, kind, body)
        select id, $2, $3, $4 from reached
        where not exists (
          select from sandbox.address_book where account_id = $6 and owner = $1 and phone = $5 and is_blocked)
      )
      select id::float8 as device from reached`,
    values: [phone, chat, entry.kind, JSON.stringify(entry.body), writer, account_id],
  });
  return rows.map((row) => row.device);
}

/** Devices of this process that have due entries or whose session has changed. */
export async function findDevicesWithWork(
  pool: Pool,
  served: { device: number; session: string }[],
): Promise<number[]> {
  const { rows } = await pool.query<{ device: number }>({
    name: "sandbox-devices-with-work",
    text: `
      select s.device::float8 as device
      from unnest($1::bigint[], $2::text[]) as s (device, session)
      left join sandbox.device d on d.id = s.device
      where d.session is distinct from s.session
         or exists (select from sandbox.inbox m where m.device = s.device and m.due_at <= now())`,
    values: [served.map((one) => one.device), served.map((one) => one.session)],
  });
  return rows.map((row) => row.device);
}
