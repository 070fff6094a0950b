/** A tag with a sign that has a meaning in the cell is in quotes, which are doubled inside. */
const SPECIAL = /[;"]/;
const ONE_TAG = /\s*(?:"((?:[^"]|"")*)"|([^;]*))\s*(?:;|$)/y;

/** Tags as the cell of a table has them, separated by semicolons. */
export function toTagCell(tags: readonly string[]): string {
  return tags.map((tag) => (SPECIAL.test(tag) ? `"${tag.replaceAll('"', '""')}"` : tag)).join(";");
}

/** The tags of a cell that are not empty. */
export function readTagCell(cell: string): string[] {
  const tags: string[] = [];
  ONE_TAG.lastIndex = 0;
  while (ONE_TAG.lastIndex < cell.length) {
    const [, quoted, plain = ""] = ONE_TAG.exec(cell) ?? [];
    tags.push(quoted?.replaceAll('""', '"') ?? plain);
  }
  return tags.filter((tag) => tag.trim() !== "");
}
