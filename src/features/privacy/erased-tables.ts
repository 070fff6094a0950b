import { type DeclaredTable, dataOf, PERSONAL_DATA } from "./personal-data.ts";

/** The tables in which an anonymisation changes or deletes rows, or stores its names while it runs. */
export const ERASED_TABLES: readonly string[] = [
  ...new Set([
    "pseudonym",
    ...(Object.keys(PERSONAL_DATA) as DeclaredTable[]).filter((table) => {
      const { personal, deleted } = dataOf(table);
      return personal !== undefined || deleted !== undefined;
    }),
  ]),
];
