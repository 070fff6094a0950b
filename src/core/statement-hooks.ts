import { type RawBuilder, sql } from "kysely";
import type { Engine } from "../engine/engine.ts";
import type { Db, Trx } from "../platform/db/database.ts";
import type { ErasureSteps } from "./personal-data/anonymisation.ts";
import type { TableDeclarations } from "./personal-data/table-declaration.ts";

/**
 * A table whose rows get the events of their instance beside webhooks, as jobs `{ do: "event", [table]: id, event_id, at }`.
 * It has the columns `id`, `account_id`, `instance_id`, `enabled`, `lane`, `event_names` and `exclude`.
 */
export interface SubscriberTable {
  table: string;
  /** The columns of its lanes, which end with the instance. */
  lanes: readonly string[];
}

/** Decides which messages of campaigns may go out. */
export interface SendGuard {
  /** Locks what the decision depends on, for the messages `input x`, until the statement ends: the CTE `guarded`. */
  lock: RawBuilder<unknown>;
  /** For a message `m` that goes to the address `jid`, beside `guarded`. */
  allows(jid: RawBuilder<unknown>): RawBuilder<boolean>;
  /** Takes back a message that it did not allow. */
  withdraw(db: Db, engine: Engine, messageId: number): Promise<void>;
}

/**
 * What extensions do in statements and transactions of core. It belongs to the program, not to an installation: a
 * gateway that has an extension switched off still protects what it stored.
 */
export interface StatementHooks {
  subscribers: readonly SubscriberTable[];
  /** Without one, no message of a campaign goes out. */
  sendGuard?: SendGuard;
  /** Whether an outgoing file with this id is still needed, beside messages. */
  fileUses: readonly ((file: RawBuilder<unknown>) => RawBuilder<boolean>)[];
  /** Ends what acts for a user, whose password or role has changed. */
  endUserAccess: readonly ((trx: Trx, userId: number) => Promise<void>)[];
  /** Ends what a key of these instances (a query of ids) has made. */
  endKeyAccess: readonly ((trx: Trx, instances: RawBuilder<unknown>) => Promise<void>)[];
  /** A query of the lanes that go with an account. */
  lanesOfAccount: readonly ((accountId: number) => RawBuilder<unknown>)[];
  erasures: readonly ErasureSteps[];
  /** The tables of each extension, by its name. */
  tables: Readonly<Record<string, TableDeclarations>>;
}

/** What one extension adds. */
export interface StatementHooksPart {
  subscribers?: SubscriberTable;
  sendGuard?: SendGuard;
  fileUse?: StatementHooks["fileUses"][number];
  endUserAccess?: StatementHooks["endUserAccess"][number];
  endKeyAccess?: StatementHooks["endKeyAccess"][number];
  lanesOfAccount?: StatementHooks["lanesOfAccount"][number];
  erasure?: ErasureSteps;
}

/** The part of an extension's manifest that statements read. */
interface StatementExtension {
  name: string;
  tables?: TableDeclarations;
  inStatements?: StatementHooksPart;
}

let filled = joinStatementHooks([]);

export function statementHooks(): StatementHooks {
  return filled;
}

/** Called once, with the extensions of the program, by the module that lists them. */
export function setStatementHooks(extensions: readonly StatementExtension[]): void {
  filled = joinStatementHooks(extensions);
}

/** The lanes of the rows of all subscriber tables that meet a condition, as a query. */
export function subscriberLanes(isMeant: RawBuilder<unknown>): RawBuilder<unknown> {
  const queries = filled.subscribers.flatMap(({ table, lanes }) =>
    lanes.map((lane) => sql`select ${sql.ref(lane)} from ${sql.table(table)} where ${isMeant}`),
  );
  return sql.join([sql`select null::bigint as lane where false`, ...queries], sql` union all `);
}

function joinStatementHooks(extensions: readonly StatementExtension[]): StatementHooks {
  const parts = extensions.flatMap(({ inStatements }) => inStatements ?? []);
  const sendGuard = parts.find((part) => part.sendGuard)?.sendGuard;
  return {
    subscribers: parts.flatMap(({ subscribers }) => subscribers ?? []),
    ...(sendGuard && { sendGuard }),
    fileUses: parts.flatMap(({ fileUse }) => fileUse ?? []),
    endUserAccess: parts.flatMap(({ endUserAccess }) => endUserAccess ?? []),
    endKeyAccess: parts.flatMap(({ endKeyAccess }) => endKeyAccess ?? []),
    lanesOfAccount: parts.flatMap(({ lanesOfAccount }) => lanesOfAccount ?? []),
    erasures: parts.flatMap(({ erasure }) => erasure ?? []),
    tables: Object.fromEntries(extensions.flatMap(({ name, tables }) => (tables ? [[name, tables]] : []))),
  };
}
