import { type Selectable, sql } from "kysely";
import type { Identity, MessageStatus } from "../../../network/driver.ts";
import type { Trx } from "../../../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../../../platform/db/prepared-statement.ts";
import type { GroupChatTable, MessageReceiptTable } from "../../../tables.ts";

export type MemberReceipt = Selectable<MessageReceiptTable>;
export type ReceiptStatus = Exclude<MessageStatus, "sent">;

/** A group has at most 1,024 members; a larger one gets no member list. */
const MOST_MEMBERS = 1_024;
/** Member rows that one transaction inserts at most; the next receipt inserts the remaining ones. */
const MOST_NEW_ROWS = 20_000;

/** The receipts of several messages, which one transaction reads and changes. */
export interface ReceiptLedger {
  messages: readonly number[];
  owners: ReadonlyMap<number, { account_id: number; instance_id: number }>;
  /** Messages whose group members at the time of sending are known. */
  listed: Set<number>;
  /** Keyed by message and each address of the member. */
  entries: Map<string, MemberReceipt>;
  /** Number of rows of each message without a member list. */
  counts: Map<number, number>;
  changed: Set<MemberReceipt>;
  /** Rows that were merged into another row of the same member. */
  merged: Set<MemberReceipt>;
}

/** The caller has locked the messages. The first receipt makes the group's members the expected readers. */
export async function loadReceiptLedger(
  trx: Trx,
  messages: readonly number[],
  persons: readonly Identity[],
): Promise<ReceiptLedger> {
  const book: ReceiptLedger = {
    messages,
    owners: new Map(),
    listed: new Set(),
    entries: new Map(),
    counts: new Map(),
    changed: new Set(),
    merged: new Set(),
  };
  if (messages.length === 0) return book;
  const found = await readMessages(trx, messages);
  book.owners = new Map(found.map(({ id, account_id, instance_id }) => [id, { account_id, instance_id }]));
  for (const { id, is_listed } of found) if (is_listed) book.listed.add(id);
  for (const entry of await readEntries(trx, messages, persons)) addEntry(book, entry);
  const open = found.filter(({ is_listed }) => !is_listed);
  if (open.length > 0) await listMembers(trx, book, open);
  return book;
}

/** The row of a member, or a new row if no members are known. Undefined for a person who was no member. */
export function findReceipt(book: ReceiptLedger, message: number, who: Identity): MemberReceipt | undefined {
  const found = findKnown(book, message, who);
  if (found) return found;
  if (book.listed.has(message) || (book.counts.get(message) ?? 0) >= MOST_MEMBERS) return undefined;
  return addMember(book, message, who, false);
}

/** Finds the member by either address, adds the missing address, and merges two rows of one member. */
function findKnown(book: ReceiptLedger, message: number, who: Person): MemberReceipt | undefined {
  const [entry, duplicate] = new Set(
    addressesOf(who).flatMap((address) => book.entries.get(`${message} ${address}`) ?? []),
  );
  if (!entry) return undefined;
  if (duplicate) joinEntries(book, entry, duplicate);
  storeAddress(book, entry, who);
  indexEntry(book, entry);
  return entry;
}

function joinEntries(book: ReceiptLedger, entry: MemberReceipt, duplicate: MemberReceipt): void {
  storeAddress(book, entry, duplicate);
  entry.is_addressee ||= duplicate.is_addressee;
  for (const column of ["delivered_at", "read_at", "played_at"] as const) entry[column] ??= duplicate[column];
  for (const address of addressesOf(duplicate)) book.entries.set(`${duplicate.message} ${address}`, entry);
  book.counts.set(duplicate.message, (book.counts.get(duplicate.message) ?? 0) - 1);
  book.changed.add(entry);
  book.changed.delete(duplicate);
  book.merged.add(duplicate);
}

/** Stores the member's other address, which may become known later. */
function storeAddress(book: ReceiptLedger, entry: MemberReceipt, { jid, lid, phone }: Person): void {
  const isNew = (entry.phone === null && phone !== null) || (entry.lid === null && lid !== null);
  if (!isNew) return;
  if (entry.phone === null && phone !== null) Object.assign(entry, { jid, phone });
  entry.lid ??= lid;
  book.changed.add(entry);
}

/** Whether the receipt advances the member's status. A late receipt only adds its time. */
export function applyReceipt(
  book: ReceiptLedger,
  entry: MemberReceipt,
  status: ReceiptStatus,
  at: Date,
): boolean {
  const column = `${status}_at` as const;
  if (entry[column]) return false;
  const isFurther = !LATER[status].some((later) => entry[later]);
  entry[column] = at;
  book.changed.add(entry);
  return isFurther;
}

const LATER = {
  delivered: ["read_at", "played_at"],
  read: ["played_at"],
  played: [],
} as const satisfies Record<ReceiptStatus, readonly (keyof MemberReceipt)[]>;

export async function saveReceipts(trx: Trx, { changed, merged }: ReceiptLedger): Promise<void> {
  const duplicates = [...merged].map(({ message, person }) => ({ message, person }));
  if (duplicates.length > 0)
    await sql`
      delete from message_receipt r using jsonb_to_recordset(${JSON.stringify(duplicates)}::jsonb) as x (
        message bigint, person text)
      where r.message = x.message and r.person = x.person`.execute(trx);
  if (changed.size === 0) return;
  const entries = [...changed];
  await sql`${PREPARED_STATEMENT}
    insert into message_receipt
    select x.* from (
      select * from jsonb_populate_recordset(null::message_receipt, ${JSON.stringify(entries)}::jsonb)
      ${rowCountHint(entries)}
    ) x order by x.message, x.person
    on conflict (message, person) do update set is_addressee = excluded.is_addressee,
      jid = excluded.jid, lid = excluded.lid, phone = excluded.phone, delivered_at = excluded.delivered_at, read_at = excluded.read_at, played_at = excluded.played_at`.execute(
    trx,
  );
}

interface LockedMessage {
  id: number;
  account_id: number;
  instance_id: number;
  jid: string;
  is_listed: boolean;
}

async function readMessages(trx: Trx, messages: readonly number[]): Promise<LockedMessage[]> {
  const { rows } = await sql<LockedMessage>`${PREPARED_STATEMENT}
    select m.id, m.account_id, m.instance_id, m.jid,
      exists (select from message_receipt r where r.message = m.id and r.is_addressee) as is_listed
    from message m where m.id in (select unnest(${messages}::bigint[]) ${rowCountHint(messages)})
    order by m.id desc`.execute(trx);
  return rows;
}

/** Reads the rows of these people, and all rows of messages without a member list. */
async function readEntries(
  trx: Trx,
  messages: readonly number[],
  persons: readonly Identity[],
): Promise<MemberReceipt[]> {
  const addresses = [...new Set(persons.flatMap(addressesOf))];
  const { rows } = await sql<MemberReceipt>`${PREPARED_STATEMENT}
    select * from message_receipt where message in (select unnest(${messages}::bigint[]) ${rowCountHint(messages)})
      and (jid = any(${addresses}::text[]) or lid = any(${addresses}::text[]) or not is_addressee)`.execute(
    trx,
  );
  return rows;
}

interface GroupMembership {
  instance_id: number;
  jid: string;
  participants: Selectable<GroupChatTable>["participants"];
  me: (string | null)[];
}

async function listMembers(trx: Trx, book: ReceiptLedger, open: readonly LockedMessage[]): Promise<void> {
  const { rows: groups } = await sql<GroupMembership>`
    select g.instance_id, g.jid, g.participants, array[i.jid, i.lid] as me
    from group_chat g join instance i on i.id = g.instance_id
    where jsonb_array_length(g.participants) <= ${MOST_MEMBERS} and (g.instance_id, g.jid) in (
      select * from unnest(${open.map((one) => one.instance_id)}::bigint[], ${open.map(({ jid }) => jid)}::text[]))`.execute(
    trx,
  );
  const byChat = new Map(groups.map((group) => [`${group.instance_id} ${group.jid}`, group]));
  let rows = 0;
  for (const { id, instance_id, jid } of open) {
    const group = byChat.get(`${instance_id} ${jid}`);
    const members = group?.participants.filter((one) => !addressesOf(one).some((a) => group.me.includes(a)));
    rows += members?.length ?? 0;
    if (!members || members.length === 0 || rows > MOST_NEW_ROWS) continue;
    for (const member of members) addAddressee(book, id, member);
    book.listed.add(id);
  }
}

function addAddressee(book: ReceiptLedger, message: number, member: Person): void {
  const known = findKnown(book, message, member);
  if (!known) return void addMember(book, message, member, true);
  known.is_addressee = true;
  book.changed.add(known);
}

type Person = Pick<MemberReceipt, "jid" | "lid" | "phone">;

function addMember(book: ReceiptLedger, message: number, { jid, lid, phone }: Person, is_addressee: boolean) {
  const owner = book.owners.get(message) ?? { account_id: 0, instance_id: 0 };
  const times = { delivered_at: null, read_at: null, played_at: null };
  const entry = { message, person: lid ?? jid, ...owner, jid, lid, phone, is_addressee, ...times };
  addEntry(book, entry);
  book.changed.add(entry);
  return entry;
}

function addEntry(book: ReceiptLedger, entry: MemberReceipt): void {
  indexEntry(book, entry);
  book.counts.set(entry.message, (book.counts.get(entry.message) ?? 0) + 1);
}

function indexEntry(book: ReceiptLedger, entry: MemberReceipt): void {
  for (const address of addressesOf(entry)) book.entries.set(`${entry.message} ${address}`, entry);
}

function addressesOf({ jid, lid }: Pick<Person, "jid" | "lid">): string[] {
  return lid === null || lid === jid ? [jid] : [jid, lid];
}
