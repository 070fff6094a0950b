import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { declaredTables } from "../../core/declared-tables.ts";
import { recordEvents } from "../../core/events/events.ts";
import type {
  Anonymisation,
  AnonymisationBatch,
  AnonymisationPart,
  AnonymisationStep,
} from "../../core/personal-data/personal-data.ts";
import { statementHooks } from "../../core/statement-hooks.ts";
import type { Engine, Job, JobResult, LaneKind } from "../../engine/engine.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { faultPoint } from "../../platform/fault-point.ts";
import { type AnonymisationScope, isRequested, PARTS_OF_SCOPE } from "./anonymisation-scope.ts";
import { chatSteps, nameSteps, remainingTableSteps } from "./anonymise-table-steps.ts";
import { cancelSteps } from "./cancel-steps.ts";
import { deleteRowSteps } from "./delete-row-steps.ts";
import { eraseMessageSteps, type ReportedBatch } from "./erase-message-steps.ts";
import { PERSON_TRACE_STEPS } from "./person-trace-steps.ts";
import { PRIVACY_LANE, readLastRows } from "./request-erasure.ts";

/** The tables in which an anonymisation changes or deletes rows, or stores its names while it runs. */
export function erasedTables(): string[] {
  return declaredTables().flatMap(([table, { personal, deleted }]) => (personal || deleted ? [table] : []));
}

export interface PrivacyLaneDeps {
  db: Db;
  engine: Engine;
  /** Deletes the data of an account that the sandbox network stores. */
  deleteOnNetwork: (
    account_id: number,
    phones: readonly string[],
    messages: readonly { writer: string; id: string }[],
  ) => Promise<void>;
  /** Deletes the people and groups of an account on the sandbox network, or the person with these addresses. */
  deletePeopleOnNetwork: (account_id: number, person?: readonly string[]) => Promise<void>;
  /** Deletes files from this node's store that no message references. */
  sweepFiles: () => Promise<void>;
}

/** Notifies every node to invalidate its caches of people or, with this key, to delete files. */
const ERASED_TOPIC = "erased";
const FILES_KEY = "files";

/** Short, so that a stopping node does not wait long. */
const AT_A_STRETCH_MS = 2_000;
/** After this time no node stores a message under a cached old chat. */
const CACHES_CLEARED_MS = 500;
const ALL: readonly AnonymisationPart[] = ["account", "messages", "leads", "conversations"];

/** Runs anonymisations in batches; after a crash the next node continues after the last batch. */
export function privacyLane(deps: PrivacyLaneDeps): LaneKind {
  const steps = stepsOf(deps);
  return { kind: PRIVACY_LANE, role: "worker", laneConcurrency: 2, run: (job) => carryOn(deps, steps, job) };
}

function stepsOf(deps: PrivacyLaneDeps): readonly AnonymisationStep[] {
  const marks: AnonymisationStep = { name: "marks", parts: ALL, runBatch: moveMarks };
  return [
    ...nameSteps(),
    marks,
    ...cancelSteps(),
    // First, so that no session reads a name again.
    {
      name: "people_on_network",
      parts: ["conversations"],
      beforeBatch: ({ account_id, person }) => deps.deletePeopleOnNetwork(account_id, person?.addresses),
    },
    ...chatSteps(),
    { name: "wait_for_caches", parts: ["conversations"], beforeBatch: () => waitForCaches(deps) },
    // Messages that arrived meanwhile are included.
    marks,
    ...cancelSteps(),
    ...eraseMessageSteps(deps),
    ...deleteRowSteps(),
    ...PERSON_TRACE_STEPS,
    ...statementHooks().erasures.flatMap(({ erase }) => erase ?? []),
    ...remainingTableSteps(),
    { name: "files", parts: ["messages"], beforeBatch: () => dropFiles(deps) },
    { name: "names", parts: ALL, beforeBatch: (run) => deletePseudonyms(deps.db, run) },
  ];
}

async function waitForCaches({ engine }: PrivacyLaneDeps): Promise<void> {
  engine.publish(ERASED_TOPIC, "people");
  await sleep(CACHES_CLEARED_MS);
}

async function dropFiles({ engine, sweepFiles }: PrivacyLaneDeps): Promise<void> {
  engine.publish(ERASED_TOPIC, FILES_KEY);
  await sweepFiles();
}

/** Extends the covered rows to those written while the names were still there. */
async function moveMarks(trx: Trx, { request }: Anonymisation): Promise<AnonymisationBatch> {
  const until = JSON.stringify(await readLastRows(trx));
  await sql`update data_request set until = ${until}::jsonb where id = ${request}`.execute(trx);
  return { rows: 0, after: null };
}

async function carryOn(
  deps: PrivacyLaneDeps,
  steps: readonly AnonymisationStep[],
  job: Job,
): Promise<JobResult> {
  const { request } = job.ref as { request: number };
  const pauseAt = performance.now() + AT_A_STRETCH_MS;
  while (await runNextBatch(deps, steps, request)) {
    if (performance.now() > pauseAt || !deps.engine.isSafe()) return { end: "retry", at: new Date() };
  }
  await vacuum(deps.db);
  return { end: "done" };
}

/** One batch and the new position, in one commit. False: nothing is left to do. */
async function runNextBatch(
  deps: PrivacyLaneDeps,
  steps: readonly AnonymisationStep[],
  request: number,
): Promise<boolean> {
  const { db, engine } = deps;
  const found = await readRun(db, request);
  if (!found) return false;
  const { run, at } = found;
  const step = steps[at.step];
  const needed = step && isRequested(step, run) ? step : undefined;
  await needed?.beforeBatch?.(run, at.after);
  const lanes = await db.transaction().execute(async (trx) => {
    const { rows } = await sql`
      select from data_request
      where id = ${request} and status = 'processing' and progress = ${JSON.stringify(at)}::jsonb for update`.execute(
      trx,
    );
    if (rows.length === 0) return [];
    await sql`set local waygate.erasing = 'on'`.execute(trx);
    const batch: ReportedBatch =
      needed?.runBatch === undefined ? NOTHING : await needed.runBatch(trx, run, at.after);
    const next =
      batch.after === null ? { step: at.step + 1, after: null } : { step: at.step, after: batch.after };
    await sql`
      update data_request set progress = ${JSON.stringify(next)}::jsonb,
        affected = case when ${batch.rows} = 0 then affected else affected || jsonb_build_object(
          ${step?.name ?? ""}::text, coalesce((affected ->> ${step?.name ?? ""})::bigint, 0) + ${batch.rows}::bigint) end,
        person = case when ${next.step >= steps.length} then null else person end,
        status = case when ${next.step >= steps.length} then 'completed' else status end,
        processed_at = case when ${next.step >= steps.length} then now() end
      where id = ${request}`.execute(trx);
    return [...(batch.lanes ?? []), ...(await recordEvents(trx, [...(batch.events ?? [])]))];
  });
  faultPoint("privacy:after-batch");
  engine.wake(lanes, { changed: true });
  return true;
}

const NOTHING: AnonymisationBatch = { rows: 0, after: null };

interface Progress {
  step: number;
  after: unknown;
}

/** Undefined once it has finished. */
async function readRun(db: Db, request: number): Promise<{ run: Anonymisation; at: Progress } | undefined> {
  const row = await db
    .selectFrom("data_request")
    .select(["account_id", "scope", "person", "until", "progress"])
    .where("id", "=", request)
    .where("status", "=", "processing")
    .executeTakeFirst();
  if (!row) return undefined;
  // Without the person it would erase everybody.
  if (row.scope === "person" && !row.person) throw new Error("the erasure of one person does not know whom");
  const instances = await db
    .selectFrom("instance")
    .select("id")
    .where("account_id", "=", row.account_id)
    .orderBy("id")
    .execute();
  const run = {
    request,
    account_id: row.account_id,
    parts: new Set(PARTS_OF_SCOPE[row.scope as AnonymisationScope]),
    person: row.person ?? undefined,
    instances: instances.map(({ id }) => id),
    until: row.until,
  };
  return { run, at: row.progress };
}

async function deletePseudonyms(db: Db, { request }: Anonymisation): Promise<void> {
  await db.deleteFrom("pseudonym").where("request", "=", request).execute();
}

/** Small tables never reach the threshold of autovacuum. A busy table is left to autovacuum. */
async function vacuum(db: Db): Promise<void> {
  await sql`vacuum (skip_locked) ${sql.join(erasedTables().map((table) => sql.table(table)))}`.execute(db);
}

/** On every node, an erasure also evicts the cached data of the erased people, or deletes their files. */
export function followErasures(
  engine: Pick<Engine, "subscribe">,
  { sweepFiles, clearCaches }: Pick<PrivacyLaneDeps, "sweepFiles"> & { clearCaches(): void },
): void {
  engine.subscribe(ERASED_TOPIC, (key) => {
    if (key === FILES_KEY) void sweepFiles();
    else clearCaches();
  });
}
