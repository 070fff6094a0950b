import { COMMON_PASSWORD_WORDS } from "./common-password-words.ts";

const MIN_LENGTH = 12;
const MAX_LENGTH = 1024;
const MIN_DIFFERENT = 5;
/** Four different words are a passphrase, even if they are common. */
const MOST_WORDS = 3;
const TOO_COMMON = "is too common; use several words or a password manager";

/** The problem of a new password, or undefined. `own` are words that it must not consist of: e-mail, name. */
export function findPasswordProblem(password: string, own: readonly string[] = []): string | undefined {
  const length = [...password].length;
  if (length < MIN_LENGTH) return `must have at least ${MIN_LENGTH} characters`;
  if (length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`;
  const plain = password.toLowerCase();
  if (new Set(plain).size < MIN_DIFFERENT) return "repeats the same few characters";
  if (own.some((word) => isMadeOf(plain, wordsOf(word)))) return "must not be made of the name or the e-mail";
  return isCommon(plain) ? TOO_COMMON : undefined;
}

function isCommon(plain: string): boolean {
  if (isWalk(plain)) return true;
  return [plain, undoLeet(plain)].some((text) => isMadeOf(text, COMMON_PASSWORD_WORDS));
}

const ROWS = [
  "1234567890",
  "qwertyuiop",
  "asdfghjkl",
  "zxcvbnm",
  "qwertzuiop",
  "azertyuiop",
  "abcdefghijklmnopqrstuvwxyz",
  "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
  "1q2w3e4r5t6y7u8i9o0p",
  "q1w2e3r4t5y6u7i8o9p0",
  "147258369",
];
const WALKS = ROWS.flatMap((row) => [row, [...row].reverse().join("")]);
const SHORTEST_STEP = 4;

/** Whether a text is nothing but runs along the keyboard or the alphabet. */
function isWalk(text: string): boolean {
  let rest = text.replace(/[^a-z0-9]/g, "");
  if (rest.length * 2 < text.length) return false;
  while (rest.length >= SHORTEST_STEP) {
    const step = longestStep(rest);
    if (step < SHORTEST_STEP) return false;
    rest = rest.slice(step);
  }
  return true;
}

function longestStep(text: string): number {
  let length = 0;
  while (length < text.length && WALKS.some((walk) => (walk + walk).includes(text.slice(0, length + 1)))) {
    length++;
  }
  return length;
}

/**
 * Whether little remains of a text without a few of the words; digits, punctuation and one or two letters do
 * not count.
 */
function isMadeOf(text: string, words: readonly string[]): boolean {
  let left = text.replace(/[^\p{L}]/gu, "");
  let found = 0;
  for (const word of words) {
    if (!left.includes(word)) continue;
    left = left.replaceAll(word, "");
    found++;
  }
  return found > 0 && found <= MOST_WORDS && left.length <= 2;
}

const LEET: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
  "!": "i",
};

function undoLeet(text: string): string {
  const [core = ""] = /\p{L}(?:.*\p{L})?/su.exec(text) ?? [];
  return core.replace(/[013457@$!]/g, (sign) => LEET[sign] ?? sign);
}

const SHORTEST_WORD = 3;

function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  return words.filter((word) => word.length >= SHORTEST_WORD).sort((a, b) => b.length - a.length);
}
