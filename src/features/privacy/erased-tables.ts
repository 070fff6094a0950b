import { type DeclaredTable, dataOf, PERSONAL_DATA } from "./personal-data.ts";

/** Where an anonymisation changes or deletes rows, and where it keeps its names meanwhile. */
export const ERASED_TABLES: readonly string[] = [
  ...new Set([
    "surrogate",
    ...(Object.keys(PERSONAL_DATA) as DeclaredTable[]).filter((table) => {
      const { personal, gone } = dataOf(table);
      return personal !== undefined || gone !== undefined;
    }),
  ]),
];
