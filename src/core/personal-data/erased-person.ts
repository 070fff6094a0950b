import { type RawBuilder, sql } from "kysely";

/** The one person whom an anonymisation concerns. */
export interface ErasedPerson {
  /** Phones in every format, JIDs and LIDs. */
  readonly addresses: readonly string[];
  readonly leads: readonly number[];
}

/** Whether a row, or a value of it, is about the person. */
export type PersonCondition = (person: ErasedPerson) => RawBuilder<boolean>;

/** Whether the value is an address of the person; null for null. */
export function isAddressOf(value: RawBuilder<unknown>, { addresses }: ErasedPerson): RawBuilder<boolean> {
  return sql`${value} = any(${addresses}::text[])`;
}

/** Whether one of the columns has an address of the person. */
export function hasAddressIn(...columns: string[]): PersonCondition {
  return (person) =>
    sql`(${sql.join(
      columns.map((column) => isAddressOf(sql.ref(column), person)),
      sql` or `,
    )})`;
}
