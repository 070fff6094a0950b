import { type Selectable, sql } from "kysely";
import type { AccountTable } from "../../tables.ts";

export type AccountState = Selectable<AccountTable>["status"];

/** The status of an account in a query of `account`: that of a trial which is over is `expired`. */
export const accountState = sql<AccountState>`account_state(account)`;

/** Bytes of the files that it stores. */
export const storageOf = sql<number>`
  coalesce((select bytes from storage_usage u where u.account_id = account.id), 0)`;
