import type { Tables } from "../tables.ts";
import { CORE_TABLES } from "./personal-data/core-tables.ts";
import type { TableDeclaration, TableDeclarations } from "./personal-data/personal-data.ts";
import { statementHooks } from "./statement-hooks.ts";

export type TableName = keyof Tables;

/** The tables of core and of every extension that the program has, by their owners. */
export function tablesByOwner(): Readonly<Record<string, TableDeclarations>> {
  return { ...CORE_TABLES, ...statementHooks().tables };
}

/** All of them, in the order of their owners. */
export function declaredTables(): [TableName, TableDeclaration][] {
  return Object.values(tablesByOwner()).flatMap(
    (tables) => Object.entries(tables) as [TableName, TableDeclaration][],
  );
}

/** Throws if no part of the program declares the table. */
export function declarationOf(table: TableName): TableDeclaration {
  const found = declaredTables().find(([name]) => name === table);
  if (!found) throw new Error(`No part of the program declares the table ${table}.`);
  return found[1];
}
