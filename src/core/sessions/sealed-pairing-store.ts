import { sql } from "kysely";
import { createBatchLoader, createBatchWriter } from "../../engine/batch-queue.ts";
import type { Lane } from "../../engine/engine.ts";
import { lockOwnedLanes } from "../../engine/lane-store.ts";
import { mergePairingChanges } from "../../network/credential-store.ts";
import type { PairingChange, StoredJournalEntry } from "../../network/driver.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../../platform/db/prepared-statement.ts";
import { encryptionContextOf, type SecretBox } from "../../platform/secrets/secret-box.ts";

export interface SealedPairingStoreOptions {
  db: Db;
  box: SecretBox;
  /** Id of this node in the engine. */
  node: string;
}

/** One pairing of an instance, owned by this node. */
export interface OwnedPairing {
  lane: Lane;
  generation: number;
}

/** Sealed keys and journal entries of all pairings of a node; concurrent writes share one statement. */
export interface SealedPairingStore {
  read(claim: OwnedPairing, kind: string, ids: readonly string[]): Promise<Map<string, string>>;
  readJournal(claim: OwnedPairing, ids?: readonly string[]): Promise<StoredJournalEntry[]>;
  /** False: nothing was stored, because this node has lost the lane or the pairing. */
  commit(claim: OwnedPairing, change: PairingChange): Promise<boolean>;
}

interface ReadKeysRequest {
  instance: number;
  generation: number;
  kind: string;
  ids: readonly string[];
}

/** A change of an owned pairing. */
export interface PairingCommit {
  claim: OwnedPairing;
  change: PairingChange;
}

/** Far longer than the network redelivers a message. */
const JOURNAL_DAYS = 30;

export function createSealedPairingStore({ db, box, node }: SealedPairingStoreOptions): SealedPairingStore {
  const loader = createBatchLoader<ReadKeysRequest, Map<string, string>>({
    load: (reads) => readAll(db, box, reads),
  });
  const writer = createBatchWriter<PairingCommit, boolean>({
    write: (commits) => commitPairings(db, box, node, commits),
  });
  return {
    read: ({ lane, generation }, kind, ids) =>
      loader.load({ instance: Number(lane.key), generation, kind, ids }),
    readJournal: (claim, ids) => readEntries(db, box, claim, ids),
    commit: (claim, change) => writer.write({ claim, change }),
  };
}

async function readAll(
  db: Db,
  box: SecretBox,
  reads: readonly ReadKeysRequest[],
): Promise<Map<string, string>[]> {
  const requests = reads.flatMap(({ instance, generation, kind, ids }, read) =>
    ids.map((id) => ({ read, instance, generation, kind, id })),
  );
  const { rows } = await sql<{ read: number; id: string; secret: Buffer }>`${PREPARED_STATEMENT}
    select w.read, k.id, k.secret
    from (
      select * from jsonb_to_recordset(${JSON.stringify(requests)}::jsonb) as w
        (read integer, instance bigint, generation bigint, kind text, id text) ${rowCountHint(requests)}
    ) w join pairing_key k on k.instance_id = w.instance and k.generation = w.generation
      and k.kind = w.kind and k.id = w.id`.execute(db);
  const found = reads.map(() => new Map<string, string>());
  for (const { read, id, secret } of rows) {
    const { instance = 0, generation = 0, kind = "" } = reads[read] ?? {};
    const context = encryptionContextOf("pairing_key", "secret", instance, generation, kind, id);
    found[read]?.set(id, box.open(secret, context));
  }
  return found;
}

async function readEntries(
  db: Db,
  box: SecretBox,
  { lane, generation }: OwnedPairing,
  ids: readonly string[] | undefined,
): Promise<StoredJournalEntry[]> {
  const instance = Number(lane.key);
  if (ids === undefined) await removeOld(db, instance, generation);
  const rows = await db
    .selectFrom("journal_entry")
    .select(["id", "is_done", "secret"])
    .where("instance_id", "=", instance)
    .where("generation", "=", generation)
    .$if(ids !== undefined, (query) => query.where("id", "in", [...(ids ?? []), ""]))
    .orderBy("position")
    .execute();
  const open = (id: string, secret: Buffer) =>
    box.open(secret, encryptionContextOf("journal_entry", "secret", instance, generation, id));
  return rows.map(({ id, is_done, secret }) => ({ id, is_done, body: open(id, secret) }));
}

async function removeOld(db: Db, instance: number, generation: number): Promise<void> {
  await sql`
    delete from journal_entry where instance_id = ${instance}
      and (generation < ${generation} or created_at < now() - make_interval(days => ${JOURNAL_DAYS}))`.execute(
    db,
  );
}

/** Merges all changes of a pairing, in their order, into one. */
function mergeByPairing(commits: readonly PairingCommit[]): PairingCommit[] {
  const pairings = new Map<string, { claim: OwnedPairing; changes: PairingChange[] }>();
  for (const { claim, change } of commits) {
    const pairing = pairings.get(claimKey(claim)) ?? { claim, changes: [] };
    pairings.set(claimKey(claim), pairing);
    pairing.changes.push(change);
  }
  return [...pairings.values()].map(({ claim, changes }) => ({
    claim,
    change: mergePairingChanges(changes),
  }));
}

function claimKey({ lane, generation }: OwnedPairing): string {
  return `${lane.id}:${lane.epoch}:${generation}`;
}

/** Stores the changes, in one statement; false for those of pairings that this node has lost. */
export async function commitPairings(
  db: Db | Trx,
  box: SecretBox,
  node: string,
  commits: readonly PairingCommit[],
): Promise<boolean[]> {
  const pairings = mergeByPairing(commits);
  const claims = pairings.map(({ claim: { lane, generation }, change: { credentials } }, nth) => ({
    nth,
    lane: lane.id,
    epoch: lane.epoch,
    instance: Number(lane.key),
    generation,
    secret: credentials ? sealCredentials(box, Number(lane.key), credentials) : null,
  }));
  const lanes = pairings.map(({ claim }) => claim.lane);
  const { rows } = await sql<{ nth: number }>`${PREPARED_STATEMENT}
    with owned as materialized (${lockOwnedLanes(node, lanes)}),
    claim as materialized (
      select c.* from jsonb_to_recordset(${JSON.stringify(claims)}::jsonb) as c
        (nth integer, lane bigint, epoch bigint, instance bigint, generation bigint, secret text)
      join owned on owned.id = c.lane and owned.epoch = c.epoch
      join credential on credential.instance_id = c.instance and credential.generation = c.generation
        and credential.secret is not null
      ${rowCountHint(claims)}
    ),
    saved as (
      update credential set secret = decode(claim.secret, 'hex'), updated_at = now() from claim
      where credential.instance_id = claim.instance and credential.generation = claim.generation
        and credential.secret is not null and claim.secret is not null
    ),
    ${writesOf(pairings, box)}
    select nth from claim`.execute(db);
  const stored = new Set(rows.flatMap(({ nth }) => (pairings[nth] ? [claimKey(pairings[nth].claim)] : [])));
  return commits.map(({ claim }) => stored.has(claimKey(claim)));
}

/** The prefix of the primary key of a pairing's rows. */
function rowKeyOf(claim: OwnedPairing | undefined): [instance: number, generation: number] {
  return [Number(claim?.lane.key), Number(claim?.generation)];
}

function writesOf(pairings: readonly PairingCommit[], box: SecretBox) {
  const keys = pairings.flatMap(({ change }, nth) => change.keys.map((key) => ({ nth, ...key })));
  const entries = pairings.flatMap(({ change }, nth) =>
    change.journal_entries.map((entry) => ({ nth, ...entry })),
  );
  const deleted = pairings.flatMap(({ change }, nth) =>
    change.deleted_journal_ids.map((id) => ({ nth, id })),
  );
  const rowOf = (nth: number) => rowKeyOf(pairings[nth]?.claim);
  const sealed = keys.map(({ nth, kind, id, value }) =>
    value === null
      ? null
      : box.seal(value, encryptionContextOf("pairing_key", "secret", ...rowOf(nth), kind, id)),
  );
  const bodies = entries.map(({ nth, id, body }) =>
    box.seal(body, encryptionContextOf("journal_entry", "secret", ...rowOf(nth), id)),
  );
  // One hint for all three lists, so that the text varies little.
  const hint = rowCountHint({ length: Math.max(keys.length, entries.length, deleted.length) });
  return sql`
    key as materialized (
      select claim.instance, claim.generation, k.kind, k.id, k.secret
      from (
        select * from unnest(${keys.map(({ nth }) => nth)}::integer[], ${keys.map(({ kind }) => kind)}::text[],
          ${keys.map(({ id }) => id)}::text[], ${sealed}::bytea[]) as k (nth, kind, id, secret) ${hint}
      ) as k
      join claim on claim.nth = k.nth
    ),
    put as (
      insert into pairing_key (instance_id, generation, kind, id, secret)
      select instance, generation, kind, id, secret from key where secret is not null
      on conflict (instance_id, generation, kind, id) do update set secret = excluded.secret
    ),
    deleted_keys as (
      delete from pairing_key using key
      where key.secret is null and pairing_key.instance_id = key.instance
        and pairing_key.generation = key.generation and pairing_key.kind = key.kind and pairing_key.id = key.id
    ),
    stored_entries as (
      insert into journal_entry (instance_id, generation, id, is_done, secret)
      select claim.instance, claim.generation, l.id, l.is_done, l.secret
      from (
        select * from unnest(${entries.map(({ nth }) => nth)}::integer[], ${entries.map(({ id }) => id)}::text[],
          ${entries.map((entry) => entry.is_done)}::boolean[], ${bodies}::bytea[])
          with ordinality as l (nth, id, is_done, secret, place) ${hint}
      ) as l
      join claim on claim.nth = l.nth order by l.place
      on conflict (instance_id, generation, id) do update set is_done = excluded.is_done, secret = excluded.secret
    ),
    deleted_entries as (
      delete from journal_entry using (
        select claim.instance, claim.generation, f.id
        from (
          select * from unnest(${deleted.map(({ nth }) => nth)}::integer[], ${deleted.map(({ id }) => id)}::text[])
            as f (nth, id) ${hint}
        ) as f
        join claim on claim.nth = f.nth
      ) as old
      where journal_entry.instance_id = old.instance and journal_entry.generation = old.generation
        and journal_entry.id = old.id
    )`;
}

/** Returns hex digits, since the value is sent inside JSON. */
function sealCredentials(box: SecretBox, instance: number, credentials: Uint8Array): string {
  const text = Buffer.from(credentials).toString("base64");
  return box.seal(text, encryptionContextOf("credential", "secret", instance)).toString("hex");
}

/** Deletes the rows of all generations of the pairing, or of those before `before`. */
export async function deletePairings(db: Db | Trx, instance: number, before?: number): Promise<void> {
  for (const table of ["pairing_key", "journal_entry"] as const) {
    await db
      .deleteFrom(table)
      .where("instance_id", "=", instance)
      .$if(before !== undefined, (query) => query.where("generation", "<", before ?? 0))
      .execute();
  }
}
