import type { Trx } from "../../platform/db/database.ts";
import type { DataRequestTable } from "../../tables.ts";
import type { EventDraft } from "../events/events.ts";
import type { AnonymisationPart, AnonymisationRequest } from "./treatment.ts";

/** One anonymisation, as each of its batches sees it. */
export interface Anonymisation extends AnonymisationRequest {
  account_id: number;
  /** Of the account, in one order. */
  instances: readonly number[];
  /** The last row of each table that it is about. */
  until: Readonly<Record<string, number>>;
}

export interface AnonymisationBatch {
  /** Rows that were changed. */
  rows: number;
  /** Where the next batch begins; null: the step is over. */
  after: unknown;
  /** Lanes whose jobs were removed, to be woken after the commit. */
  lanes?: readonly number[];
  /** To be recorded last. */
  events?: readonly EventDraft[];
}

/** One kind of rows, worked through in batches; each batch can be done again. */
export interface AnonymisationStep {
  /** Under which the rows are counted. */
  readonly name: string;
  /** Any of which asks for the step. */
  readonly parts: readonly AnonymisationPart[];
  /** What cannot be part of a transaction, before the batch. */
  readonly outside?: (run: Anonymisation, after: unknown) => Promise<void>;
  readonly take?: (trx: Trx, run: Anonymisation, after: unknown) => Promise<AnonymisationBatch>;
}

export const ROWS_AT_ONCE = 500;

export type AnonymisationScope = NonNullable<DataRequestTable["scope"]>;

/** A conversation is made of its messages. */
export const PARTS_OF_SCOPE: Readonly<Record<AnonymisationScope, readonly AnonymisationPart[]>> = {
  account: ["account"],
  messages: ["messages"],
  leads: ["leads"],
  conversations: ["conversations", "messages"],
  all: ["account", "messages", "leads", "conversations"],
};
