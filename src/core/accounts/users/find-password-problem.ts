import type { ZxcvbnFactory } from "@zxcvbn-ts/core";
import { type ValueIssue, valueIssue } from "../../../platform/issue-codes.ts";

const MIN_LENGTH = 12;
const MAX_LENGTH = 1024;
/** zxcvbn takes milliseconds for 24 characters, and seconds for 1,000. */
const ESTIMATED_LENGTH = 24;
/** The best score of zxcvbn: more than 10^10 guesses. */
const STRONG = 4;
const SHORTEST_WORD = 3;
const PRODUCT = "waygate";
const ADVICE = "use several unrelated words, or let a password manager generate it";

/** The problem of a new password, or undefined. It must not consist of `own` texts (e-mail, name). */
export async function findPasswordProblem(
  password: string,
  own: readonly string[] = [],
): Promise<ValueIssue | undefined> {
  const lengthProblem = findPasswordLengthProblem(password);
  if (lengthProblem !== undefined) return lengthProblem;
  const estimator = await loadEstimator();
  const check = (personalWords: string[]) => estimateEnds(estimator, password, [PRODUCT, ...personalWords]);
  const found = check(own.flatMap(wordsOf));
  if (found.score >= STRONG) return undefined;
  if (check([]).score >= STRONG) return weak("must not consist of the name or the e-mail");
  if (/repeat/i.test(found.feedback.warning ?? ""))
    return weak("repeats the same characters or a common word");
  return weak("is too common");
}

function weak(issue: string): ValueIssue {
  return valueIssue(`${issue}; ${ADVICE}`, "weak_password");
}

/** The problem of a password's length alone. */
export function findPasswordLengthProblem(password: string): ValueIssue | undefined {
  const length = [...password].length;
  if (length < MIN_LENGTH)
    return valueIssue(`must have at least ${MIN_LENGTH} characters`, "too_short", { min: MIN_LENGTH });
  if (length > MAX_LENGTH)
    return valueIssue(`must have at most ${MAX_LENGTH} characters`, "too_long", { max: MAX_LENGTH });
  return undefined;
}

let estimator: Promise<ZxcvbnFactory> | undefined;

/** Loaded for the first new password, since its list of 49,000 breached and common passwords takes 26 MB. */
function loadEstimator(): Promise<ZxcvbnFactory> {
  estimator ??= Promise.all([import("@zxcvbn-ts/core"), import("@zxcvbn-ts/language-common")]).then(
    ([core, { dictionary, adjacencyGraphs }]) =>
      new core.ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs }),
  );
  return estimator;
}

/** The better estimate of both ends: the whole password is at least as strong as each of them. */
function estimateEnds(estimator: ZxcvbnFactory, password: string, personalWords: string[]) {
  const begin = estimator.check(password.slice(0, ESTIMATED_LENGTH), personalWords);
  if (begin.score >= STRONG || password.length <= ESTIMATED_LENGTH) return begin;
  const end = estimator.check(password.slice(-ESTIMATED_LENGTH), personalWords);
  return end.score > begin.score ? end : begin;
}

function wordsOf(text: string): string[] {
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
  return [text, ...text.split("@"), ...words].filter((word) => word.length >= SHORTEST_WORD);
}
