import { Readable } from "node:stream";
import { type RawBuilder, sql } from "kysely";
import { requireUser } from "../../core/accounts/accounts.ts";
import { recordAudit } from "../../core/audit/audit.ts";
import { declarationOf, declaredTables, type TableName } from "../../core/declared-tables.ts";
import { openOfMessage } from "../../core/messages/messages.ts";
import { wordsOf } from "../../core/personal-data/personal-data.ts";
import type { Db } from "../../platform/db/database.ts";
import { type HandlerRequest, RawResponse } from "../../platform/http/handler.ts";
import type { Log } from "../../platform/log/log.ts";
import type { SecretBox } from "../../platform/secrets/secret-box.ts";
import { EXPORTED_LISTS, type privacyContract } from "./contract.ts";
import { readLastRows } from "./request-erasure.ts";

const ROWS_AT_ONCE = 500;

/** The limits of one export: it leaves out later rows, so that it ends. */
interface Export {
  request: number;
  account_id: number;
  until: Readonly<Record<string, number>>;
}

interface Source extends Export {
  db: Db;
  box: SecretBox;
  log: Log;
}

/** All data of the account, read page by page while it is sent. */
export async function exportAccount(
  { db, box }: Pick<Source, "db" | "box">,
  by: HandlerRequest<typeof privacyContract.exportData>,
): Promise<RawResponse> {
  const { account_id, user_id } = requireUser(by.caller);
  const until = await readLastRows(db);
  const { request, exportedAt } = await db.transaction().execute(async (trx) => {
    const added = await trx
      .insertInto("data_request")
      .values({
        account_id,
        request_type: "export",
        requested_by: user_id,
        ip: by.ip,
        until: JSON.stringify(until),
      })
      .returning(["id", "created_at"])
      .executeTakeFirstOrThrow();
    const target = { type: "data_request", id: added.id };
    await recordAudit(trx, { by, action: "data.export", target, account_id });
    return { request: added.id, exportedAt: added.created_at.toISOString() };
  });
  const pieces = write({ db, box, log: by.log, request, account_id, until }, exportedAt);
  return new RawResponse(
    "application/json; charset=utf-8",
    // Nothing is read ahead of the receiver.
    Readable.from(pieces, { highWaterMark: 0 }),
    200,
    { "content-disposition": `attachment; filename="export-${request}.json"`, "cache-control": "no-store" },
  );
}

/**
 * Marks exports as failed whose process was killed; an export that is still running records its own result
 * later.
 */
export async function failInterruptedExports(db: Db): Promise<void> {
  await db
    .updateTable("data_request")
    .set({ status: "failed", processed_at: sql<Date>`now()` })
    .where("request_type", "=", "export")
    .where("status", "=", "processing")
    .where("created_at", "<", sql<Date>`now() - interval '1 hour'`)
    .execute();
}

async function* write({ db, box, log, ...about }: Source, exportedAt: string): AsyncGenerator<string> {
  const counts: Record<string, number> = {};
  let isWhole = false;
  try {
    const head = { success: true, message: "Data exported", requestId: about.request, data: { exportedAt } };
    yield JSON.stringify(head).slice(0, -2);
    yield `,"account":${await readAccount(db, about)}`;
    const tables = exportedTables();
    for (const name of EXPORTED_LISTS) {
      const table = tables.get(name);
      yield `,"${name}":[`;
      let rows = 0;
      for await (const page of table ? readList(db, about, table) : []) {
        const text = withOpenedBytes(page, box);
        yield rows === 0 ? text : `,${text}`;
        rows += page.rows;
      }
      if (table) counts[table] = rows;
      yield "]";
    }
    yield "}}";
    isWhole = true;
  } catch (error) {
    // The response has begun: its receiver only sees it end too early.
    log.error({ err: error, account_id: about.account_id }, "an export was interrupted");
    throw error;
  } finally {
    await db
      .updateTable("data_request")
      .set({ status: isWhole ? "completed" : "failed", processed_at: sql<Date>`now()` })
      .set({ affected: sql<Record<string, number>>`${JSON.stringify(counts)}::jsonb` })
      .where("id", "=", about.request)
      .execute();
  }
}

interface Page {
  rows: number;
  /** JSON, with commas between the rows. */
  text: string;
  /** Of messages that the gateway cannot read. */
  unsupported?: { instance_id: number; message_id: string; raw: string }[] | null;
}

/** The text with the bytes of unreadable messages in base64 instead of sealed. */
function withOpenedBytes({ text, unsupported }: Page, box: SecretBox): string {
  let opened = text;
  for (const { instance_id, message_id, raw } of unsupported ?? []) {
    const bytes = openOfMessage(box, "raw", instance_id, message_id, Buffer.from(raw, "hex"));
    opened = opened.replace(`"raw": "\\\\x${raw}"`, `"raw": ${JSON.stringify(bytes ?? null)}`);
  }
  return opened;
}

/** The tables of the lists; a list of an extension that the program does not have stays empty. */
export function exportedTables(): Map<string, TableName> {
  return new Map(
    declaredTables().flatMap(([table, { exportedAs }]) => (exportedAs ? [[exportedAs, table]] : [])),
  );
}

function readList(db: Db, about: Export, table: TableName): AsyncGenerator<Page> {
  return table === "message" ? byTime(db, about) : byNumber(db, about, table);
}

/** The position in a list: by number, or by time and number. */
interface ListPosition {
  /** Microseconds since 1970; 0 in a list by number. */
  at: number;
  id: number;
}

async function* byNumber(db: Db, about: Export, table: TableName): AsyncGenerator<Page> {
  const last = about.until[table];
  const isOldEnough = last === undefined ? sql`` : sql`and id <= ${last}`;
  yield* readPages(
    db,
    table,
    ({ id }) => sql`
    select *, 0::bigint as at from ${sql.table(table)}
    where account_id = ${about.account_id} and id > ${id} ${isOldEnough}
    order by id limit ${ROWS_AT_ONCE}`,
  );
}

/** One instance after the other, each through an index. */
async function* byTime(db: Db, about: Export): AsyncGenerator<Page> {
  const instances = await db
    .selectFrom("instance")
    .select("id")
    .where("account_id", "=", about.account_id)
    .orderBy("id")
    .execute();
  for (const instance of instances) {
    yield* readPages(
      db,
      "message",
      ({ at, id }) => sql`
      select *, (extract(epoch from sent_at) * 1000000)::bigint as at from message
      where instance_id = ${instance.id} and id <= ${about.until.message ?? 0}
        and (sent_at, id) > (timestamptz 'epoch' + ${at} * interval '1 microsecond', ${id}::bigint)
      order by sent_at, id limit ${ROWS_AT_ONCE}`,
    );
  }
}

async function* readPages(
  db: Db,
  table: TableName,
  pageAfter: (position: ListPosition) => RawBuilder<unknown>,
): AsyncGenerator<Page> {
  for (let position: ListPosition = { at: -1, id: 0 }, rows = ROWS_AT_ONCE; rows === ROWS_AT_ONCE; ) {
    const { rows: found } = await sql<Page & ListPosition>`
      with t as (${pageAfter(position)})
      select count(*) as rows, string_agg(${toJson(table)}::text, ',' order by at, id) as text,
        ${table === "message" ? UNSUPPORTED_BYTES : sql`null`} as unsupported, max(at) as at, (array_agg(id order by at desc, id desc))[1] as id
      from t`.execute(db);
    const page = found[0];
    if (!page || page.rows === 0) return;
    yield page;
    ({ rows } = page);
    position = page;
  }
}

const WITHOUT_NO_BYTES = sql` - case when t.raw is null then 'raw' else '' end`;

const UNSUPPORTED_BYTES = sql`json_agg(json_build_object('instance_id', instance_id, 'message_id', message_id,
          'raw', encode(raw, 'hex'))) filter (where raw is not null)`;

/** A row `t` as JSON, without secrets and internal columns; a message with its file. */
function toJson(table: TableName): RawBuilder<unknown> {
  const row = withoutHidden(sql`to_jsonb(t)`, table);
  if (table !== "message") return row;
  return sql`(${row}${WITHOUT_NO_BYTES} || jsonb_build_object('file', (
    select ${withoutHidden(sql`to_jsonb(f)`, "media")} from media f where f.message = t.id)) || (
    select case when count(*) = 0 then '{}' else jsonb_build_object('receipts', jsonb_agg(to_jsonb(r)
      - '{message,person,account_id,instance_id}'::text[] order by r.person)) end
    from message_receipt r where r.message = t.id) || (
    select case when count(*) = 0 then '{}' else jsonb_build_object('votes', jsonb_agg(to_jsonb(v)
      - '{message,person,account_id,instance_id}'::text[] order by v.person)) end
    from poll_vote v where v.message = t.id))`;
}

/** Also without `at`, the position of the row in its list. */
function withoutHidden(row: RawBuilder<unknown>, table: TableName): RawBuilder<unknown> {
  const { internal, secret } = declarationOf(table);
  const hidden = ["at", ...wordsOf(secret), ...wordsOf(internal)].map((name) => name.split("."));
  return hidden.reduce((rest, path) => sql`(${rest} #- ${path}::text[])`, row);
}

async function readAccount(db: Db, { account_id }: Export): Promise<string> {
  const { rows } = await sql<{ text: string }>`
    select ${toJson("account")}::text as text from account t where id = ${account_id}`.execute(db);
  return rows[0]?.text ?? "null";
}
