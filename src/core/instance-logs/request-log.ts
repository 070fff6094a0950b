import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../../platform/db/prepared-statement.ts";
import type { CompletedRequest } from "../../platform/http/handler.ts";
import type { Log } from "../../platform/log/log.ts";
import { anonymiseIp } from "../../platform/outgoing/ip-address.ts";

const EVERY_MS = 500;
const ROWS_AT_ONCE = 500;
/** Buffered while the database is unavailable; further entries are dropped. */
const MOST_WAITING = 20_000;

/** Logs requests and their callers in the background, so that no request waits. */
export interface RequestLog {
  record(completed: CompletedRequest): void;
  /** Resolves when everything noted is written, or cannot be. */
  close(): Promise<void>;
}

export function createRequestLog({ db, log }: { db: Db; log: Log }): RequestLog {
  const waiting: LoggedRequest[] = [];
  let lost = 0;
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    if (lost > 0) log.warn({ lost }, "requests were dropped from the request log");
    lost = 0;
    while (waiting.length > 0) await insert(db, waiting.splice(0, ROWS_AT_ONCE));
  }

  function flush(): Promise<void> {
    const fail = (error: unknown) => log.warn({ err: error }, "requests could not be logged");
    writing = writing.then(write).catch(fail);
    return writing;
  }

  const timer = setInterval(() => waiting.length > 0 && void flush(), EVERY_MS).unref();
  return {
    record(completed) {
      const row = toRow(completed);
      if (row && waiting.length < MOST_WAITING) waiting.push(row);
      else if (row) lost += 1;
    },
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

interface LoggedRequest {
  account_id: number | null;
  instance_id: number | null;
  caller: "user" | "key" | "admin";
  user_id: number | null;
  key_id: number | null;
  method: string;
  route: string;
  status: number;
  code: string | null;
  duration_ms: number;
  ip: string | null;
  request_id: string;
  created_at: string;
}

/** Undefined for an unauthenticated caller. */
function toRow({ caller, ...completed }: CompletedRequest): LoggedRequest | undefined {
  if (caller === undefined || caller.kind === "public") return undefined;
  const { method, route, status, seconds, code, ip, request_id, instance_id } = completed;
  return {
    account_id: caller.kind === "admin" ? null : caller.account_id,
    instance_id: caller.kind === "key" ? caller.instance_id : (instance_id ?? null),
    // What an assistant does, it does for its user.
    caller: caller.kind === "assistant" ? "user" : caller.kind,
    user_id: "user_id" in caller ? caller.user_id : null,
    key_id: caller.kind === "key" ? caller.key_id : null,
    method,
    route,
    status,
    request_id,
    code: code ?? null,
    duration_ms: Math.round(seconds * 10_000) / 10,
    ip: anonymiseIp(ip) ?? null,
    created_at: new Date().toISOString(),
  };
}

/**
 * A key is known by its end; one that is gone by now by nothing. A request of an account that is being removed is not
 * logged: the lock lets the removal find every row that it must delete.
 */
async function insert(db: Db, rows: LoggedRequest[]): Promise<void> {
  await sql`${PREPARED_STATEMENT}
    with request as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (
        account_id bigint, instance_id bigint, caller text, user_id bigint, key_id bigint, method text, route text,
        status smallint, code text, duration_ms real, ip text, request_id text, created_at timestamptz)
      ${rowCountHint(rows)}
    ), known as materialized (
      select id from account
      where id in (select account_id from request) and removed_at is null order by id for key share
    )
    insert into api_log (account_id, instance_id, caller, user_id, key_last4, method, route, status, code, duration_ms,
      ip, request_id, created_at)
    select x.account_id, x.instance_id, x.caller, x.user_id, k.last4, x.method, x.route, x.status, x.code,
      x.duration_ms, x.ip, x.request_id, x.created_at
    from request x
    left join known a on a.id = x.account_id
    left join api_key k on k.id = x.key_id
    where x.account_id is null or a.id is not null`.execute(db);
}
