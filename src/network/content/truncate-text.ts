/** At most `max` characters of a text; never splits a surrogate pair. */
export function truncateText(text: string, max: number): string {
  return text.length > max ? text.slice(0, max).replace(/[\ud800-\udbff]$/, "") : text;
}
