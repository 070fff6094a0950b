import type { RawBuilder } from "kysely";
import type { Tables } from "../../tables.ts";
import type { Anonymisation } from "./anonymisation.ts";
import type { PersonCondition } from "./erased-person.ts";
import type { AnonymisationPart, Treatment } from "./treatment.ts";

/** Every column of a table, separated by spaces: what personal data it holds, and how an anonymisation treats it. */
export interface TableDeclaration {
  /** Columns without personal data. */
  readonly plain: string;
  /** Sealed, or used only for signing in: never exported, and stays valid. */
  readonly secret?: string;
  /** Personal data that is retained, with the reason. */
  readonly retained?: { readonly columns: string; readonly because: string };
  readonly personal?: Readonly<Record<string, Treatment>>;
  /** Columns that are deleted with their rows: cached copies of other data, or short-lived data. */
  readonly deleted?: { readonly columns: string; readonly parts: readonly AnonymisationPart[] };
  /**
   * The column by which an anonymisation finds the rows of an account, or a query of their ids. It then deletes the rows
   * or treats the personal columns. Absent: nothing to do, or steps of its own.
   */
  readonly foundBy?: "account_id" | "instance_id" | "id" | RowQuery;
  /** Which rows are about one person. Absent: the erasure of one person leaves the table to other steps. */
  readonly ofPerson?: PersonCondition;
  /** Columns with addresses by which a restored backup knows an erased person again. */
  readonly knownBy?: string;
  /** The list of an export that has the rows. */
  readonly exportedAs?: string;
  /** Columns, and fields as `column.field`, that an export leaves out beside the secret ones. */
  readonly internal?: string;
}

/** The ids of an account's rows. `within` ends its condition: the rows of the batch, with their order and number. */
export type RowQuery = (run: Anonymisation, within: RawBuilder<unknown>) => RawBuilder<{ id: number }>;

/** The tables of one owner; referencing tables first. */
export type TableDeclarations = Readonly<Partial<Record<keyof Tables, TableDeclaration>>>;

/** All declared columns. */
export function columnsOf({ plain, secret, retained, personal, deleted }: TableDeclaration): string[] {
  const lists = [plain, secret, retained?.columns, deleted?.columns].flatMap(wordsOf);
  return [...lists, ...Object.keys(personal ?? {})];
}

export function wordsOf(list: string | undefined): string[] {
  return list?.split(" ") ?? [];
}
