import type { Trx } from "../../platform/db/database.ts";
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

/** What an anonymisation does in an extension, beside the treatment of its tables. */
export interface ErasureSteps {
  /** End work that concerns the erased people: before messages are erased, and once more. */
  readonly cancel?: readonly AnonymisationStep[];
  /** Run after messages are erased, and before the tables are treated. */
  readonly erase?: readonly AnonymisationStep[];
  /** Called with pending sends that the anonymisation has ended. */
  endSends?(trx: Trx, messageIds: readonly number[]): Promise<void>;
  /** Called with messages of the one person, whose texts it may repeat. */
  eraseTexts?(trx: Trx, messageIds: readonly number[]): Promise<void>;
}

export const ROWS_AT_ONCE = 500;
