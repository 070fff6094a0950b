import { sql } from "kysely";
import { declarationOf } from "../../core/declared-tables.ts";
import type { EventDraft } from "../../core/events/events.ts";
import { markFilesForDeletion } from "../../core/media/media.ts";
import { outcomeEvents } from "../../core/messages/messages.ts";
import {
  type Anonymisation,
  type AnonymisationBatch,
  type AnonymisationStep,
  assignments,
  ROWS_AT_ONCE,
} from "../../core/personal-data/personal-data.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { anonymiseRows } from "./anonymise-table-steps.ts";
import { isEventOf, isMessageOf } from "./find-person.ts";
import { eraseTracesInEvents, eraseTracesInMessages, logGroupMessages } from "./person-trace-steps.ts";

/** The sender of a message, for the sandbox network, which stores copies. */
export interface WrittenMessage {
  writer: string;
  id: string;
}

export interface EraseMessagesDeps {
  db: Db;
  deleteOnNetwork: (
    account_id: number,
    phones: readonly string[],
    messages: readonly WrittenMessage[],
  ) => Promise<void>;
}

/** A batch with the events that report it, recorded last in its transaction. */
export interface ReportedBatch extends AnonymisationBatch {
  events?: readonly EventDraft[];
}

/** Messages with their files, and the events about them. */
export function eraseMessageSteps(deps: EraseMessagesDeps): AnonymisationStep[] {
  return [
    {
      name: "message",
      parts: ["messages"],
      beforeBatch: (run, after) => deleteCopies(deps, run, after),
      runBatch: eraseMessages,
    },
    { name: "message_search", parts: ["messages"], only: "everybody", runBatch: eraseTexts },
    { name: "event", parts: ["messages", "account"], runBatch: eraseEvents },
  ];
}

/** Position in the log of one instance after the other. */
interface LogPosition {
  nth: number;
  /** The time of a message in microseconds since 1970, or the number of an event. */
  at: number;
  id: number;
}

const START: LogPosition = { nth: 0, at: -1, id: 0 };

interface Found {
  id: number;
  at: number;
  /** False for a row that the erasure of one person leaves. */
  is_theirs: boolean;
}

/** The next rows of the instance; then the next instance. */
function toBatch(found: readonly Found[], run: Anonymisation, position: LogPosition): AnonymisationBatch {
  const last = found.at(-1);
  const rows = found.filter(({ is_theirs }) => is_theirs).length;
  if (last && found.length === ROWS_AT_ONCE)
    return { rows, after: { nth: position.nth, at: last.at, id: last.id } };
  const nth = position.nth + 1;
  return { rows, after: nth < run.instances.length ? { ...START, nth } : null };
}

/** The ids of the rows to erase, and of the others, which may name the person. */
function divide(found: readonly Found[]): { theirs: number[]; others: number[] } {
  const idsOf = (isTheirs: boolean) =>
    found.flatMap(({ id, is_theirs }) => (is_theirs === isTheirs ? [id] : []));
  return { theirs: idsOf(true), others: idsOf(false) };
}

interface FoundMessage extends Found {
  message_id: string;
  writer: string | null;
  /** This anonymisation has cancelled it. */
  is_untold: boolean;
}

async function findMessages(
  db: Db | Trx,
  run: Anonymisation,
  { nth, at, id }: LogPosition,
): Promise<FoundMessage[]> {
  const { rows } = await sql<FoundMessage>`
    select m.id, (extract(epoch from m.sent_at) * 1000000)::bigint as at, m.message_id,
      m.content ? 'untold' as is_untold, ${run.person ? isMessageOf(run.person) : sql`true`} as is_theirs,
      case when m.from_me then i.jid else coalesce(m.sender ->> 'jid', m.jid) end as writer
    from message m join instance i on i.id = m.instance_id
    where m.instance_id = ${run.instances[nth] ?? 0}
      and (m.sent_at, m.id) > (timestamptz 'epoch' + ${at} * interval '1 microsecond', ${id}::bigint)
      and m.id <= ${run.until.message ?? 0}
    order by m.sent_at, m.id limit ${ROWS_AT_ONCE}`.execute(db);
  return rows;
}

/** A copy that no longer exists was erased before. */
async function deleteCopies(
  { db, deleteOnNetwork }: EraseMessagesDeps,
  run: Anonymisation,
  after: unknown,
): Promise<void> {
  const position = (after as LogPosition | null) ?? START;
  const instance = await db
    .selectFrom("instance")
    .select(["network", "phone"])
    .where("id", "=", run.instances[position.nth] ?? 0)
    .executeTakeFirst();
  if (instance?.network !== "sandbox") return;
  const found = await findMessages(db, run, position);
  const written = found.flatMap(({ writer, message_id: id, is_theirs }) =>
    writer !== null && is_theirs ? [{ writer, id }] : [],
  );
  const isFirst = position.at < 0 && run.person === undefined;
  await deleteOnNetwork(run.account_id, isFirst && instance.phone ? [instance.phone] : [], written);
}

async function eraseMessages(trx: Trx, run: Anonymisation, after: unknown): Promise<ReportedBatch> {
  const position = (after as LogPosition | null) ?? START;
  const found = await findMessages(trx, run, position);
  const { theirs: ids, others } = divide(found);
  const { rows: files } = await sql<{ id: string; blob: number | null; upload: string | null }>`
    select id, blob, upload from media where message = any(${ids}::bigint[]) order by id for update`.execute(
    trx,
  );
  const changes = assignments(declarationOf("media"), run);
  if (files.length > 0 && changes)
    await sql`
      update media set ${changes}, blob = null where id = any(${files.map(({ id }) => id)}::text[])`.execute(
      trx,
    );
  const uploads = files.flatMap(({ upload }) => upload ?? []);
  if (uploads.length > 0) await trx.deleteFrom("outgoing_media").where("id", "in", uploads).execute();
  await markFilesForDeletion(
    trx,
    files.flatMap(({ blob }) => blob ?? []),
  );
  await logGroupMessages(trx, run, run.instances[position.nth] ?? 0, ids);
  await eraseTracesInMessages(trx, run, { theirs: ids, others });
  await anonymiseRows(trx, run, "message", ids);
  const untold = found.filter(({ is_untold, is_theirs }) => is_untold && is_theirs);
  return { ...toBatch(found, run, position), events: await outcomeEvents(trx, untold) };
}

/** Deletes the search index of erased messages. */
async function eraseTexts(trx: Trx, run: Anonymisation): Promise<AnonymisationBatch> {
  const { numAffectedRows = 0n } = await sql`
    with found as materialized (
      select s.instance_id, s.at, s.id from unnest(${run.instances}::bigint[]) as i (id) cross join lateral (
        select * from message_search where instance_id = i.id and id <= ${run.until.message ?? 0}
        limit ${ROWS_AT_ONCE}) s
      limit ${ROWS_AT_ONCE}
    )
    delete from message_search s using found f
    where s.instance_id = f.instance_id and s.at = f.at and s.id = f.id`.execute(trx);
  const rows = Number(numAffectedRows);
  return { rows, after: rows === 0 ? null : rows };
}

async function eraseEvents(trx: Trx, run: Anonymisation, after: unknown): Promise<AnonymisationBatch> {
  const position = (after as LogPosition | null) ?? START;
  const { rows } = await sql<Found>`
    select id, sequence as at, ${run.person ? isEventOf(run.person) : sql`true`} as is_theirs from event e
    where instance_id = ${run.instances[position.nth] ?? 0} and sequence > ${position.at}
      and id <= ${run.until.event ?? 0}
    order by sequence limit ${ROWS_AT_ONCE}`.execute(trx);
  const { theirs: ids, others } = divide(rows);
  if (run.parts.has("messages"))
    await sql`
      update delivery d set error = null from event e
      where e.id = any(${ids}::bigint[]) and d.event_id = e.event_id and d.created_at = e.created_at
        and d.error is not null`.execute(trx);
  await eraseTracesInEvents(trx, run, { theirs: ids, others });
  await anonymiseRows(trx, run, "event", ids);
  return toBatch(rows, run, position);
}
