/** Most letters that differ between a name and the one that was meant. */
const MOST_TYPOS = 2;
const PREFIX = /^WAYGATE_/;

/**
 * The name of a setting that was probably meant: the same without `WAYGATE_`, with the same words in another order, or
 * with up to two other, missing, further or swapped letters.
 */
export function findNearestName(written: string, names: readonly string[]): string | undefined {
  const bare = (name: string) => name.replace(PREFIX, "");
  const words = (name: string) => bare(name).split("_").sort().join();
  const same =
    names.find((name) => bare(name) === bare(written)) ??
    names.find((name) => words(name) === words(written));
  if (same !== undefined) return same;
  const byDistance = names
    .map((name) => ({ name, typos: countTypos(bare(written), bare(name)) }))
    .filter(({ name, typos }) => typos <= MOST_TYPOS && typos < bare(name).length / 2)
    .sort((a, b) => a.typos - b.typos);
  return byDistance[0]?.name;
}

/** The optimal string alignment distance of two names; stops counting for names of very different lengths. */
function countTypos(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > MOST_TYPOS) return MOST_TYPOS + 1;
  let last: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      const isSwapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const costs = [at(row, j) + 1, at(next, j - 1) + 1, at(row, j - 1) + (isSame ? 0 : 1)];
      next.push(Math.min(...costs, isSwapped ? at(last, j - 2) + 1 : Number.POSITIVE_INFINITY));
    }
    [last, row] = [row, next];
  }
  return at(row, other.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
