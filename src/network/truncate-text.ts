/** At most `max` characters of a text, never half of one that takes two. */
export function truncateText(text: string, max: number): string {
  return text.length > max ? text.slice(0, max).replace(/[\ud800-\udbff]$/, "") : text;
}
