import { type Selectable, sql } from "kysely";
import type { AccountTable } from "../../tables.ts";

export type AccountState = Selectable<AccountTable>["status"];

/** The status of an account in a query of `account`: that of a trial which is over is `expired`. */
export const accountStateSql = sql<AccountState>`account_state(account)`;

/** Bytes of all files that it stores, those that wait for a send among them. */
export const storageBytesSql = sql<number>`storage_of(account.id)`;
