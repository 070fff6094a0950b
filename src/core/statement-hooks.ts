import type { RawBuilder } from "kysely";
import type { Engine } from "../engine/engine.ts";
import type { Db, Trx } from "../platform/db/database.ts";
import type { ErasureSteps } from "./personal-data/anonymisation.ts";
import type { TableDeclarations } from "./personal-data/table-declaration.ts";

/** Gets events beside webhooks, through jobs that the statement of an event adds. */
export interface EventSubscriber {
  /** For an event `d`, with `instance_id` and `event`: whether one of them wants it. */
  isSubscribed: RawBuilder<boolean>;
  /** Adds the jobs for the events `numbered`, and returns their lanes as `lane`. */
  addJobs: RawBuilder<unknown>;
  /** For an event `e` of an instance `i`: whether a job still has to read it. */
  isNeeded: RawBuilder<boolean>;
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

/** Lanes and rows of an extension that go with an instance or an account. */
export interface Removal {
  /** The lanes of an instance, whose jobs end with it. */
  lanesOfInstance?(trx: Trx, instanceId: number): Promise<number[]>;
  /** Deletes the rows that belong to these lanes, after they are locked. */
  removeFromInstance?(trx: Trx, instanceId: number): Promise<void>;
  lanesOfAccount?(trx: Trx, accountId: number): Promise<number[]>;
}

/**
 * What extensions do in statements and transactions of core. It belongs to the program, not to an installation: a
 * gateway that has an extension switched off still protects what it stored.
 */
export interface StatementHooks {
  eventSubscribers: readonly EventSubscriber[];
  /** Without one, no message of a campaign goes out. */
  sendGuard?: SendGuard;
  /** Whether an outgoing file with this id is still needed, beside messages. */
  fileUses: readonly ((file: RawBuilder<unknown>) => RawBuilder<boolean>)[];
  /** Ends what acts for a user, whose password or role has changed. */
  endUserAccess: readonly ((trx: Trx, userId: number) => Promise<void>)[];
  /** Ends what a key of these instances (a query of ids) has made. */
  endKeyAccess: readonly ((trx: Trx, instances: RawBuilder<unknown>) => Promise<void>)[];
  removals: readonly Removal[];
  erasures: readonly ErasureSteps[];
  /** The tables of each extension, by its name. */
  tables: Readonly<Record<string, TableDeclarations>>;
}

/** What one extension adds. */
export interface StatementHooksPart {
  eventSubscriber?: EventSubscriber;
  sendGuard?: SendGuard;
  fileUse?: StatementHooks["fileUses"][number];
  endUserAccess?: StatementHooks["endUserAccess"][number];
  endKeyAccess?: StatementHooks["endKeyAccess"][number];
  removal?: Removal;
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

function joinStatementHooks(extensions: readonly StatementExtension[]): StatementHooks {
  const parts = extensions.flatMap(({ inStatements }) => inStatements ?? []);
  const sendGuard = parts.find((part) => part.sendGuard)?.sendGuard;
  return {
    eventSubscribers: parts.flatMap(({ eventSubscriber }) => eventSubscriber ?? []),
    ...(sendGuard && { sendGuard }),
    fileUses: parts.flatMap(({ fileUse }) => fileUse ?? []),
    endUserAccess: parts.flatMap(({ endUserAccess }) => endUserAccess ?? []),
    endKeyAccess: parts.flatMap(({ endKeyAccess }) => endKeyAccess ?? []),
    removals: parts.flatMap(({ removal }) => removal ?? []),
    erasures: parts.flatMap(({ erasure }) => erasure ?? []),
    tables: Object.fromEntries(extensions.flatMap(({ name, tables }) => (tables ? [[name, tables]] : []))),
  };
}
