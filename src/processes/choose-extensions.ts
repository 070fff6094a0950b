import { findNearestName } from "../platform/text/find-nearest-name.ts";
import { EXTENSIONS } from "./extensions.ts";
import type { ChosenExtensions } from "./open-extensions.ts";
import { StartError } from "./start-error.ts";

const ALL = "all";

/**
 * Reads `all`, a list of names, or `all` without some: `all,-campaigns`. Throws StartError for an unknown name, or if an
 * extension lacks one that it needs.
 */
export function chooseExtensions(setting: readonly string[]): ChosenExtensions {
  const chosen = new Set<string>();
  for (const word of setting) {
    const isOff = word.startsWith("-");
    const name = isOff ? word.slice(1) : word;
    const named = name === ALL ? EXTENSIONS.map((extension) => extension.name) : [requireName(name)];
    for (const one of named) {
      if (isOff) chosen.delete(one);
      else chosen.add(one);
    }
  }
  const on = EXTENSIONS.filter(({ name }) => chosen.has(name));
  for (const { name, needs = [] } of on) {
    const missing = needs.filter((one) => !chosen.has(one));
    if (missing.length > 0)
      throw new StartError(
        `WAYGATE_EXTENSIONS: ${name} needs ${missing.join(" and ")}. Add what is missing, or leave ${name} out.`,
      );
  }
  return { on, off: EXTENSIONS.filter(({ name }) => !chosen.has(name)) };
}

function requireName(name: string): string {
  const names = EXTENSIONS.map((extension) => extension.name);
  if (names.includes(name)) return name;
  const nearest = findNearestName(name, names);
  const advice = nearest === undefined ? `It has ${names.join(", ")}` : `Did you mean ${nearest}?`;
  throw new StartError(`WAYGATE_EXTENSIONS: the gateway has no extension ${name}. ${advice}`);
}
