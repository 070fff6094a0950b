import { type Selectable, sql } from "kysely";
import type { AccountTable } from "../../tables.ts";

export type AccountState = Selectable<AccountTable>["status"];

/** Status of the row `account` in a query; an ended trial counts as `expired`. */
export const accountStateSql = sql<AccountState>`account_state(account)`;

/** Size of the account's files in bytes, including files of pending sends. */
export const storageBytesSql = sql<number>`storage_of(account.id)`;
