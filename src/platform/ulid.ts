import { randomBytes } from "node:crypto";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const HALF = 2 ** 40;

/** The last id of a sequence: its millisecond and its 80 random bits as two halves. */
interface UlidState {
  ms: number;
  high: number;
  low: number;
}

const now: UlidState = { ms: 0, high: 0, low: 0 };
const last: UlidState = { ms: 0, high: 0, low: 0 };

/**
 * A ULID of 26 characters. Without `at`, ids rise within the process even if the clock goes back. With `at`
 * (a date from 1970 to 10889) the id has exactly that millisecond, and ids of the same millisecond rise.
 */
export function ulid(at?: Date): string {
  return at === undefined ? next(now, Math.max(Date.now(), now.ms)) : next(last, at.getTime());
}

/** The millisecond of the id's creation; throws a RangeError if the text is not a ULID. */
export function ulidTime(id: string): Date {
  if (!isUlid(id)) {
    throw new RangeError("not a ULID");
  }
  let ms = 0;
  for (const character of id.slice(0, 10)) {
    ms = ms * 32 + ALPHABET.indexOf(character);
  }
  return new Date(ms);
}

export function isUlid(text: string): boolean {
  return ULID.test(text);
}

function next(state: UlidState, ms: number): string {
  if (!(ms >= 0 && ms < 2 ** 48)) {
    throw new RangeError("a ULID holds dates from 1970 to 10889");
  }
  if (ms === state.ms) {
    state.low += 1;
    if (state.low === HALF) {
      state.low = 0;
      state.high += 1;
    }
  } else {
    const random = randomBytes(10);
    state.ms = ms;
    // Half the range, so that increments never overflow.
    state.high = random.readUIntBE(0, 5) % (HALF / 2);
    state.low = random.readUIntBE(5, 5);
  }
  return base32(state.ms, 10) + base32(state.high, 8) + base32(state.low, 8);
}

function base32(value: number, length: number): string {
  let text = "";
  let rest = value;
  for (let i = 0; i < length; i++) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
