import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../../platform/db/database.ts";
import { invalidField } from "../../../platform/gateway-error.ts";
import { microsecondsOf, type TimeCursor, timeCursorRow } from "../../../platform/http/input/pagination.ts";
import { UNSUPPORTED_TYPE } from "./message-view.ts";
import { searchQuery, typeQuery } from "./search-words.ts";

/** A search in the log of some instances. */
export interface WordSearch {
  instance_ids: number[];
  words: RawBuilder<unknown>;
  direction?: "inbound" | "outbound";
  status?: string;
  from?: Date;
  until?: Date;
  limit: number;
  after?: TimeCursor;
}

/** The query for the words of a message, to which a type other than text belongs; undefined without words. */
export function toWordQuery({
  instance_ids,
  q,
  type,
}: {
  instance_ids: number[];
  q?: string;
  type?: string;
}): RawBuilder<unknown> | undefined {
  const isIndexed = type !== undefined && type !== "text" && type !== UNSUPPORTED_TYPE;
  const ofType = isIndexed ? typeQuery(instance_ids, type) : undefined;
  if (q === undefined) return ofType;
  const ofWords = searchQuery(instance_ids, q);
  if (!ofWords) throw invalidField("q", "must contain a letter or a digit", "wrong_format");
  return ofType ? sql`(${ofWords} && ${ofType})` : ofWords;
}

/** How many of the newest messages a search scans one by one. */
const SCANNED = 5_000;
const LEAST_OF_EACH = 500;

/**
 * Returns the newest messages that contain the words. Common words are found by a scan of the newest
 * messages, which costs less than their long posting list. Rare words are found by the index.
 */
export async function findByWords(db: Db, search: WordSearch): Promise<TimeCursor[]> {
  const newest = await scanNewest(db, search);
  return newest.length > search.limit ? newest : searchIndex(db, search);
}

async function scanNewest(db: Db, search: WordSearch): Promise<TimeCursor[]> {
  const { instance_ids, words, limit } = search;
  const ofEach = Math.max(LEAST_OF_EACH, Math.floor(SCANNED / instance_ids.length));
  const { rows } = await sql<TimeCursor>`
    select ${CURSOR_COLUMNS} from unnest(${instance_ids}::bigint[]) as i (id)
    cross join lateral (
      select * from message_search s where s.instance_id = i.id ${inTime(search)} ${ORDER} limit ${ofEach}
    ) s
    where s.words @@ ${words} ${matching(search)}
    ${ORDER} limit ${limit + 1}`.execute(db);
  return rows;
}

async function searchIndex(db: Db, search: WordSearch): Promise<TimeCursor[]> {
  const { rows } = await sql<TimeCursor>`
    with s as materialized (
      select s.instance_id, s.at, s.id from message_search s where s.words @@ ${search.words} ${inTime(search)}
    )
    select ${CURSOR_COLUMNS} from s where true ${matching(search)} ${ORDER} limit ${search.limit + 1}`.execute(
    db,
  );
  return rows;
}

const CURSOR_COLUMNS = sql`s.id, ${microsecondsOf(sql`s.at`)} as at`;
const ORDER = sql`order by s.at desc, s.id desc`;

function inTime({ from, until, after }: WordSearch): RawBuilder<unknown> {
  return all([
    from && sql`s.at >= ${from}`,
    until && sql`s.at < ${until}`,
    after && sql`(s.at, s.id) < ${timeCursorRow(after)}`,
  ]);
}

/** Conditions on columns that only the message row has. */
function matching({ direction, status }: WordSearch): RawBuilder<unknown> {
  if (!direction && status === undefined) return sql``;
  const conditions = all([
    direction && sql`m.direction = ${direction}`,
    status !== undefined && sql`m.status = ${status}`,
  ]);
  return sql`and exists (select from message m where m.id = s.id ${conditions})`;
}

function all(conditions: (RawBuilder<unknown> | undefined | false | "")[]): RawBuilder<unknown> {
  return sql.join(
    conditions.filter((one) => typeof one === "object").map((one) => sql`and ${one}`),
    sql` `,
  );
}
