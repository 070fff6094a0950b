/** The client revision that the pinned Baileys logs in as; WhatsApp published it in July 2026. */
export const BUILT_IN_REVISION = 1_043_857_760;
/** Revisions grow by about 70,000 a day, so this limit lasts for more than two years. */
const MOST_GROWTH = 60_000_000;

/** When WhatsApp published the built-in revision, and how many a day may follow it at most. */
const BUILT_IN_AT = Date.UTC(2026, 6, 25);
const MOST_PER_DAY = 140_000;

const KEY = "client_revision";
/** The text after the key: the closing quote, escaped or not, and the whole number. */
const VALUE = /\\{0,3}"\s{0,8}:\s{0,8}(\d{1,12})(?!\d)/y;

/** Returns the first complete client revision in a text of WhatsApp's web client, in linear time. */
export function findRevision(text: string): number | undefined {
  for (let at = text.indexOf(KEY); at !== -1; at = text.indexOf(KEY, at + KEY.length)) {
    VALUE.lastIndex = at + KEY.length;
    const [found, digits] = VALUE.exec(text) ?? [];
    // A number at the very end may be incomplete.
    if (found !== undefined && at + KEY.length + found.length < text.length) return Number(digits);
  }
  return undefined;
}

/** Why a found revision cannot be used; undefined if it can. */
export function findRevisionProblem(revision: number, known: number | null): string | undefined {
  if (revision < BUILT_IN_REVISION) return `${revision} is older than the built-in ${BUILT_IN_REVISION}.`;
  if (revision > BUILT_IN_REVISION + MOST_GROWTH) return `${revision} is too high to be a client revision.`;
  if (known !== null && revision < known)
    return `${revision} is older than ${known}, which was found before.`;
  return undefined;
}

const LISTED = /"currentVersion"\s{0,8}:\s{0,8}"2\.3000\.(\d{1,12})(?:-\w{1,16})?"/;

/** Returns the revision that a list of versions, made by others, calls the current one. */
export function findListedRevision(text: string): number | undefined {
  const [, digits] = LISTED.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** As `findRevisionProblem`, for a revision that others name: it may not be ahead of the calendar. */
export function findListedProblem(revision: number, now = Date.now()): string | undefined {
  const days = Math.max(0, (now - BUILT_IN_AT) / 86_400_000);
  if (revision > BUILT_IN_REVISION + days * MOST_PER_DAY) return `${revision} is too high for today.`;
  return findRevisionProblem(revision, null);
}
