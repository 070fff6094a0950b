import type { Db } from "../../platform/db/database.ts";
import type { SecretBox } from "../../platform/secrets/secret-box.ts";
import { type AuditRow, GENESIS_HASH, hashEntry, loadAuditChainKey } from "./audit-chain.ts";

export interface AuditVerification {
  /** Links that hold. */
  links: number;
  /** Last link in hexadecimal; a copy kept elsewhere shows later whether the end of the log was cut off. */
  head: string;
  /** Committed, but not in the chain yet. */
  pending: number;
  /** The first broken entry. */
  broken: { position: number | null; audit_id: number; reason: string } | undefined;
}

const AT_ONCE = 1_000;

export interface VerifyAuditOptions {
  /** A link that must be in the chain. */
  head?: string | undefined;
  /** Called from time to time with the number of verified links. */
  onProgress?: (links: number) => void;
}

/** Verifies the chain from its start, and finds entries that were never linked. */
export async function verifyAudit(
  db: Db,
  box: SecretBox,
  { head, onProgress = () => {} }: VerifyAuditOptions = {},
): Promise<AuditVerification> {
  const { count: pending } = await db
    .selectFrom("audit_pending")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  const walked = await walk(db, await loadAuditChainKey(db, box), head, onProgress);
  const { links, link, has_head } = walked;
  const cut =
    head === undefined || has_head ? undefined : { ...NOWHERE, reason: "the given head is not in the chain" };
  const broken = walked.broken ?? cut ?? (await findUnchained(db));
  return { links, head: link.toString("hex"), pending, broken };
}

interface ChainWalk {
  links: number;
  link: Buffer;
  has_head: boolean;
  broken: AuditVerification["broken"];
}

const START: ChainWalk = { links: 0, link: GENESIS_HASH, has_head: false, broken: undefined };
const NOWHERE = { position: null, audit_id: 0 };

async function walk(
  db: Db,
  key: Buffer,
  head: string | undefined,
  report: (links: number) => void,
): Promise<ChainWalk> {
  let at = START;
  for (;;) {
    const rows = await readLinks(db, at.links);
    for (const row of rows) {
      at = step(at, key, row, head);
      if (at.broken) return at;
    }
    report(at.links);
    if (rows.length < AT_ONCE) return at;
  }
}

interface LinkRow {
  position: number;
  audit_id: number;
  hash: Buffer;
  entry: AuditRow | undefined;
}

function step(at: ChainWalk, key: Buffer, row: LinkRow, head: string | undefined): ChainWalk {
  const { position, audit_id, hash, entry } = row;
  const refuse = (reason: string): ChainWalk => ({ ...at, broken: { position, audit_id, reason } });
  if (position !== at.links + 1) return refuse(`link ${at.links + 1} is missing`);
  if (!entry) return refuse("the entry was removed");
  const link = hashEntry(key, at.link, entry);
  if (!link.equals(hash)) return refuse("the entry or its link was changed");
  return { links: position, link, has_head: at.has_head || link.toString("hex") === head, broken: undefined };
}

async function readLinks(db: Db, after: number): Promise<LinkRow[]> {
  const links = await db
    .selectFrom("audit_seal")
    .selectAll()
    .where("position", ">", after)
    .orderBy("position")
    .limit(AT_ONCE)
    .execute();
  if (links.length === 0) return [];
  const ids = links.map(({ audit_id }) => audit_id);
  const entries = await db.selectFrom("audit").selectAll().where("id", "in", ids).execute();
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  return links.map((link) => ({ ...link, entry: byId.get(link.audit_id) }));
}

async function findUnchained(db: Db): Promise<AuditVerification["broken"]> {
  const found = await db
    .selectFrom("audit")
    .leftJoin("audit_seal", "audit_seal.audit_id", "audit.id")
    .leftJoin("audit_pending", "audit_pending.audit_id", "audit.id")
    .select("audit.id")
    .where("audit_seal.audit_id", "is", null)
    .where("audit_pending.audit_id", "is", null)
    .orderBy("audit.id")
    .limit(1)
    .executeTakeFirst();
  return found && { position: null, audit_id: found.id, reason: "the entry was never linked in" };
}
