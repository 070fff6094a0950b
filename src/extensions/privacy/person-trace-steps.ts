import { type RawBuilder, sql } from "kysely";
import {
  type Anonymisation,
  type AnonymisationBatch,
  type AnonymisationStep,
  type ErasedPerson,
  isAddressOf,
  pseudonym,
  ROWS_AT_ONCE,
} from "../../core/personal-data/personal-data.ts";
import { statementHooks } from "../../core/statement-hooks.ts";
import type { Trx } from "../../platform/db/database.ts";
import { anonymiseRows } from "./anonymise-table-steps.ts";
import { findGroupMessages, isIdentityOf, logErasure } from "./find-person.ts";

/** Rows of one batch: those to be anonymised, and those of other people. */
interface Divided {
  theirs: readonly number[];
  others: readonly number[];
}

/** What else is about the messages, and what messages of others repeat of the person: quotes, reactions, receipts. */
export async function eraseTracesInMessages(
  trx: Trx,
  run: Anonymisation,
  { theirs, others }: Divided,
): Promise<void> {
  const { person } = run;
  if (!person) return;
  await sql`
    delete from message_search s using message m
    where m.id = any(${theirs}::bigint[]) and s.instance_id = m.instance_id and s.id = m.id
      and s.at = case when m.mode is null then m.sent_at else m.created_at end`.execute(trx);
  await sql`delete from idempotency where message = any(${theirs}::bigint[])`.execute(trx);
  for (const { eraseTexts } of statementHooks().erasures) await eraseTexts?.(trx, theirs);
  const isReader = ["person", "jid", "lid", "phone"].map((column) => isAddressOf(sql.ref(column), person));
  await sql`
    delete from message_receipt
    where message = any(${[...theirs, ...others]}::bigint[]) and (${sql.join(isReader, sql` or `)})`.execute(
    trx,
  );
  await eraseInMessagesOfOthers(trx, person, others);
}

async function eraseInMessagesOfOthers(
  trx: Trx,
  person: ErasedPerson,
  ids: readonly number[],
): Promise<void> {
  const isQuoted = sql`coalesce(${isAddressOf(sql`content #>> '{quoted,sender}'`, person)}, false)`;
  const reactions = (isTheirs: boolean) => sql`
    select r from jsonb_array_elements(content -> 'reactions') r
    where ${isIdentityOf(sql`r -> 'sender'`, person)} = ${isTheirs}`;
  await sql`
    update message set content = content
      || case when ${isQuoted} then
        jsonb_build_object('quoted', (content -> 'quoted') - '{text,content,sender}'::text[]) else '{}' end
      || case when content ? 'reactions' then jsonb_build_object('reactions', to_jsonb(array(${reactions(false)})))
        else '{}' end
    where id = any(${ids}::bigint[]) and (${isQuoted} or exists (${reactions(true)}))`.execute(trx);
}

/** Logs some of the person's messages in groups of an instance: a restored backup may know the person by nothing else. */
export async function logGroupMessages(
  trx: Trx,
  run: Anonymisation,
  instance_id: number,
  theirs: readonly number[],
): Promise<void> {
  const { account_id, request, person } = run;
  if (!person) return;
  const message = await findGroupMessages(trx, person, theirs);
  if (message.length === 0) return;
  const { rows: logged } = await sql`
    select from erasure_log e where account_id = ${account_id} and subject @> ${JSON.stringify({ request })}::jsonb
      and exists (select from message where instance_id = ${instance_id} and id = (subject #>> '{rows,message,0}')::bigint)
    limit 1`.execute(trx);
  if (logged.length === 0) await logErasure(trx, { ...run, scope: "person", rows: { message } });
}

/** The deliveries of the events, and what events of others repeat of the person: quotes, and the members of groups. */
export async function eraseTracesInEvents(
  trx: Trx,
  run: Anonymisation,
  { theirs, others }: Divided,
): Promise<void> {
  const { person } = run;
  if (!person) return;
  const { rows: attempts } = await sql<{ id: number }>`
    select a.id from event e join attempt a on a.event_id = e.event_id where e.id = any(${theirs}::bigint[])`.execute(
    trx,
  );
  await anonymiseRows(trx, run, "attempt", idsOf(attempts));
  const body = sql`convert_from(body, 'UTF8')`;
  await sql`
    update event set body = convert_to((${body}::jsonb #- '{data,message,quoted,text}'
      #- '{data,message,quoted,content}' #- '{data,message,quoted,sender}')::text, 'UTF8')
    where id = any(${others}::bigint[]) and event like 'message.%'
      and ${isAddressOf(sql`${body}::json #>> '{data,message,quoted,sender}'`, person)}`.execute(trx);
  await sql`
    update event set body = convert_to(${withPseudonyms(run, person, body)}, 'UTF8')
    where id = any(${others}::bigint[]) and event = 'group.updated' and ${names(person, body)}`.execute(trx);
}

/** Members of groups, whose rows stay. */
export const PERSON_TRACE_STEPS: readonly AnonymisationStep[] = [
  { name: "group_chat", parts: ["conversations"], only: "person", runBatch: leaveGroups },
];

/** The next read of a group fetches its members again. */
async function leaveGroups(trx: Trx, run: Anonymisation, after: unknown): Promise<AnonymisationBatch> {
  const { account_id, person } = run;
  if (!person) return { rows: 0, after: null };
  const { rows } = await sql<{ id: number }>`
    select id from group_chat where account_id = ${account_id} and id > ${Number(after ?? 0)}
    order by id limit ${ROWS_AT_ONCE}`.execute(trx);
  const members = sql`participants::text`;
  const { rows: left } = await sql<{ id: number }>`
    update group_chat set participants = ${withPseudonyms(run, person, members)}::jsonb,
      owner = ${pseudonym(run, sql`owner`)}, is_stale = true, updated_at = now()
    where id = any(${idsOf(rows)}::bigint[]) and (${isAddressOf(sql`owner`, person)} or ${names(person, members)})
    returning id`.execute(trx);
  if (left.length > 0) await logErasure(trx, { ...run, scope: "person", rows: { group_chat: idsOf(left) } });
  return { rows: left.length, after: rows.at(-1)?.id ?? null };
}

/**
 * Repeats the step after a restore. A member who has written nothing is not known by then, so all members go: the next read
 * of the group fetches them again.
 */
export async function forgetMembers(trx: Trx, account_id: number, groups: readonly number[]): Promise<void> {
  await sql`
    update group_chat set participants = '[]', owner = null, is_stale = true, updated_at = now()
    where account_id = ${account_id} and id = any(${groups}::bigint[])`.execute(trx);
}

/** Whether a JSON text has an address of the person as a value. */
function names({ addresses }: ErasedPerson, json: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`${json} like any(${addresses.map((address) => `%"${address}"%`)}::text[])`;
}

/** The JSON text with the person's pseudonyms as its values; nothing else in it changes. */
function withPseudonyms(
  run: Anonymisation,
  { addresses }: ErasedPerson,
  json: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return addresses.reduce(
    (text, address) =>
      sql`replace(${text}, ${`"${address}"`}, '"' || ${pseudonym(run, sql`${address}::text`)} || '"')`,
    json,
  );
}

function idsOf(rows: readonly { id: number }[]): number[] {
  return rows.map(({ id }) => id);
}
