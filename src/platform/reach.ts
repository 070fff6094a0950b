import { type RawBuilder, sql } from "kysely";

/** What a caller may read and change of its account. */
export interface Reach {
  readonly account_id: number;
  /** The only instances; null: all of the account. */
  readonly instance_ids: readonly number[] | null;
}

export function wholeAccount(account_id: number): Reach {
  return { account_id, instance_ids: null };
}

/** Whether the column names an instance within reach, if it is one of the account. */
export function isWithin(
  { instance_ids }: Pick<Reach, "instance_ids">,
  instance: RawBuilder<unknown>,
): RawBuilder<boolean> {
  return instance_ids === null
    ? sql<boolean>`true`
    : sql<boolean>`${instance} = any(${instance_ids}::bigint[])`;
}

/** As `isWithin`, for rows that are read already. */
export function withinReach({ instance_ids }: Reach): (instance: number) => boolean {
  const ids = instance_ids && new Set(instance_ids);
  return (instance) => ids?.has(instance) ?? true;
}
