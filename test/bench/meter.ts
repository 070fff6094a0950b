import { type ProcessUse, readUse } from "../run/process-figures.ts";

/** A result with what the processes of each role have computed meanwhile and hold at the end. */
export interface Metered<Result, Role extends string> {
  result: Result;
  use: Record<Role, ProcessUse>;
}

/** Process trees; each begins with the parent of the others. */
export type ProcessTrees = readonly (readonly number[])[];

export async function meterRoles<Result, Role extends string>(
  findProcesses: () => Promise<Record<Role, ProcessTrees>>,
  work: () => Promise<Result>,
): Promise<Metered<Result, Role>> {
  const before = await readRoles(await findProcesses());
  const result = await work();
  const use = await readRoles(await findProcesses());
  for (const role of Object.keys(use) as Role[]) use[role].cpuMs -= before[role].cpuMs;
  return { result, use };
}

async function readRoles<Role extends string>(
  roles: Record<Role, ProcessTrees>,
): Promise<Record<Role, ProcessUse>> {
  const entries = Object.entries<ProcessTrees>(roles).map(
    async ([role, trees]) => [role, addUp(await Promise.all(trees.map(readUse)))] as const,
  );
  return Object.fromEntries(await Promise.all(entries)) as Record<Role, ProcessUse>;
}

function addUp(uses: readonly ProcessUse[]): ProcessUse {
  const sum = (of: keyof ProcessUse) => uses.reduce((all, use) => all + use[of], 0);
  return { cpuMs: sum("cpuMs"), proportionalMb: sum("proportionalMb") };
}
