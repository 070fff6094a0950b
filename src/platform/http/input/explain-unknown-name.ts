import { findNearestName } from "../../text/find-nearest-name.ts";

export interface KnownNames {
  /** What the name is not, such as `a filter of this list`. */
  one: string;
  /** What the known names are, such as `Filters`. */
  all: string;
  names: readonly string[];
  /** Names that may be meant, too. */
  aliases?: readonly string[];
}

/** What is wrong with an unknown name: `is not a filter of this list. Did you mean limit? Filters are limit, cursor.` */
export function explainUnknownName(written: string, { one, all, names, aliases = [] }: KnownNames): string {
  const nearest = findNearestName(written, [...names, ...aliases]);
  const advice = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  return `is not ${one}.${advice}${names.length === 0 ? " It has none." : ` ${all} are ${names.join(", ")}.`}`;
}
