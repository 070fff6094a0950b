import type { EventDraft } from "../../core/events/events.ts";
import type { Trx } from "../../platform/db/database.ts";
import type { DataRequestTable } from "../../tables.ts";
import type { AnonymisationPart, AnonymisationRequest } from "./treatment.ts";

/** One anonymisation, as each of its batches sees it. */
export interface Anonymisation extends AnonymisationRequest {
  account_id: number;
  /** The account's instances, in a fixed order. */
  instances: readonly number[];
  /** The last row of each table that it covers. */
  until: Readonly<Record<string, number>>;
}

export interface AnonymisationBatch {
  /** Rows that were changed. */
  rows: number;
  /** Where the next batch begins; null: the step is done. */
  after: unknown;
  /** Lanes whose jobs were removed, to be woken after the commit. */
  lanes?: readonly number[];
  /** Recorded last in the transaction. */
  events?: readonly EventDraft[];
}

/** One kind of rows, processed in batches; each batch can be repeated. */
export interface AnonymisationStep {
  /** The name under which the rows are counted. */
  readonly name: string;
  /** The step runs if any of these is requested. */
  readonly parts: readonly AnonymisationPart[];
  /** Set if it concerns only the erasure of one person, or only that of everybody. */
  readonly only?: "person" | "everybody" | undefined;
  /** Work outside a transaction, before the batch. */
  readonly beforeBatch?: (run: Anonymisation, after: unknown) => Promise<void>;
  readonly runBatch?: (trx: Trx, run: Anonymisation, after: unknown) => Promise<AnonymisationBatch>;
}

export const ROWS_AT_ONCE = 500;

export type AnonymisationScope = NonNullable<DataRequestTable["scope"]>;

/** The parts of each scope; a conversation consists of its messages. */
export const PARTS_OF_SCOPE: Readonly<Record<AnonymisationScope, readonly AnonymisationPart[]>> = {
  account: ["account"],
  messages: ["messages"],
  leads: ["leads"],
  conversations: ["conversations", "messages"],
  all: ["account", "messages", "leads", "conversations"],
  person: ["messages", "leads", "conversations"],
};

/** Whether the request needs the step. */
export function isRequested(
  { parts, only }: AnonymisationStep,
  run: Pick<Anonymisation, "parts" | "person">,
): boolean {
  const isForThem = only === undefined || (only === "person") === (run.person !== undefined);
  return isForThem && parts.some((part) => run.parts.has(part));
}
