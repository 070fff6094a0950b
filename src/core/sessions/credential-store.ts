import { sql } from "kysely";
import type { Lane } from "../../engine/engine.ts";
import { lockOwnedLanes } from "../../engine/lane-store.ts";
import type { CredentialStore, NetworkMessage } from "../../network/driver.ts";
import { type Db, isDatabaseFull, isDatabaseUnavailable, type Trx } from "../../platform/db/database.ts";
import { encryptionContextOf, type SecretBox } from "../../platform/secrets/secret-box.ts";
import {
  createSealedPairingStore,
  deletePairings,
  type OwnedPairing,
  type PairingCommit,
  type SealedPairingStore,
} from "./sealed-pairing-store.ts";

export interface CredentialStoreOptions {
  db: Db;
  box: SecretBox;
  /** Id of this node in the engine. */
  node: string;
  /** The instance's lane, owned by this node. */
  lane: Lane;
  /** Shared by all instances of the node, so that they write in common statements. */
  pairingStore?: SealedPairingStore;
  /** Stores messages together with a change of the pairing; false: nothing was stored, as with `commit`. */
  recordMessages?: (messages: readonly NetworkMessage[], commit: PairingCommit) => Promise<boolean>;
}

/**
 * The sealed pairing of an instance, for one lifetime of its session. The lane and the pairing's generation
 * fence every write. A save after an erase begins a new generation; a store of an older generation can no
 * longer write.
 */
export function createCredentialStore(options: CredentialStoreOptions): CredentialStore {
  const { db, box, node, lane, pairingStore = createSealedPairingStore(options), recordMessages } = options;
  const instance = Number(lane.key);
  const context = encryptionContextOf("credential", "secret", instance);
  let generation: number | undefined;

  async function load(): Promise<Uint8Array | undefined> {
    const row = await db
      .selectFrom("credential")
      .select(["generation", "secret"])
      .where("instance_id", "=", instance)
      .executeTakeFirst();
    generation = row?.generation ?? 0;
    return row?.secret ? Buffer.from(box.open(row.secret, context), "base64") : undefined;
  }

  async function claim() {
    if (generation === undefined) await load();
    return { lane, generation: generation ?? 0 };
  }

  return {
    load,
    keys: {
      read: async (kind, ids) => pairingStore.read(await claim(), kind, ids),
      readJournal: async (ids) => pairingStore.readJournal(await claim(), ids),
      commit: async (change) => ((await pairingStore.commit(await claim(), change)) ? "kept" : "lost"),
      ...(recordMessages && {
        async commitWithMessages(change, messages) {
          const commit = { claim: await claim(), change };
          return resultOf(recordMessages(messages, commit));
        },
      }),
    },
    async save(credentials) {
      if (generation === undefined) await load();
      const secret = box.seal(Buffer.from(credentials).toString("base64"), context);
      const { rows } = await sql<{ generation: number }>`
        with owned as (${lockOwnedLanes(node, [lane])})
        insert into credential (instance_id, generation, secret)
        select ${instance}, 1, ${secret} from owned
        on conflict (instance_id) do update set secret = excluded.secret, registration = null, updated_at = now(),
          generation = credential.generation + case when credential.secret is null then 1 else 0 end
        where credential.generation = ${generation ?? 0}
        returning generation`.execute(db);
      generation = requireWritten(rows, instance);
      await deletePairings(db, instance, generation);
    },
    loadRegistration: () => loadRegistration(db, box, instance),
    saveRegistration: async (registration) => saveRegistration(options, await claim(), registration),
    async erase() {
      if (generation === undefined) await load();
      const { rows } = await sql<{ generation: number }>`
        with owned as (${lockOwnedLanes(node, [lane])}), erased as (
          update credential set secret = null, registration = null, generation = generation + 1, updated_at = now()
          where instance_id = ${instance} and generation = ${generation ?? 0} and exists (select from owned)
          returning generation
        )
        select generation from erased
        union all
        select 0 as generation from owned
        where ${generation ?? 0} = 0 and not exists (select from credential where instance_id = ${instance})`.execute(
        db,
      );
      generation = requireWritten(rows, instance);
      await deletePairings(db, instance, generation);
    },
  };
}

/** A message that the database rejects, or whose rows are locked, must not delay the rest of the pairing. */
async function resultOf(recording: Promise<boolean>): Promise<"kept" | "lost" | "unrecorded"> {
  try {
    return (await recording) ? "kept" : "lost";
  } catch (error) {
    if (isDatabaseUnavailable(error) || isDatabaseFull(error)) throw error;
    return "unrecorded";
  }
}

async function loadRegistration(db: Db, box: SecretBox, instance: number): Promise<Uint8Array | undefined> {
  const row = await db
    .selectFrom("credential")
    .select("registration")
    .where("instance_id", "=", instance)
    .executeTakeFirst();
  return row?.registration ? openRegistration(box, row.registration, instance) : undefined;
}

/** An unreadable registration, whose key was lost, is replaced by a new one. */
function openRegistration(box: SecretBox, sealed: Buffer, instance: number): Uint8Array | undefined {
  try {
    return Buffer.from(
      box.open(sealed, encryptionContextOf("credential", "registration", instance)),
      "base64",
    );
  } catch {
    return undefined;
  }
}

/** Does nothing if a pairing exists, since that pairing would stay. */
async function saveRegistration(
  { db, box, node }: CredentialStoreOptions,
  { lane, generation }: OwnedPairing,
  registration: Uint8Array,
): Promise<void> {
  const instance = Number(lane.key);
  const context = encryptionContextOf("credential", "registration", instance);
  const sealed = box.seal(Buffer.from(registration).toString("base64"), context);
  const { rows } = await sql<{ generation: number }>`
    with owned as (${lockOwnedLanes(node, [lane])})
    insert into credential (instance_id, generation, registration)
    select ${instance}, ${generation}, ${sealed} from owned
    on conflict (instance_id) do update set registration = excluded.registration, updated_at = now()
    where credential.generation = ${generation} and credential.secret is null
    returning generation`.execute(db);
  requireWritten(rows, instance);
}

function requireWritten(rows: { generation: number }[], instance: number): number {
  const [row] = rows;
  if (row) return Number(row.generation);
  throw new Error(
    `The pairing of instance ${instance} belongs to another process, or to a later pairing, by now.`,
  );
}

/** Deletes the pairing of any generation; the caller owns the lane. */
export async function deleteCredential(trx: Trx, instance: number): Promise<void> {
  await sql`
    update credential set secret = null, registration = null, generation = generation + 1, updated_at = now()
    where instance_id = ${instance} and (secret is not null or registration is not null)`.execute(trx);
  await deletePairings(trx, instance);
}

export async function hasCredential(trx: Trx, instance: number): Promise<boolean> {
  const found = await trx
    .selectFrom("credential")
    .select("instance_id")
    .where("instance_id", "=", instance)
    .where("secret", "is not", null)
    .executeTakeFirst();
  return found !== undefined;
}
