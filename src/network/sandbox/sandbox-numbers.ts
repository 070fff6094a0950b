import { parsePhoneNumberFromString } from "libphonenumber-js/min";
import type { Identity, Jid } from "../driver.ts";
import { isLidJid, lidJid, phoneJid, phoneOfJid } from "../jid.ts";
import type { SandboxTiming } from "./sandbox-timing.ts";

/** A person as the network stores them: phone and name. */
export interface SandboxPerson {
  phone: string;
  push_name: string | null;
  /** Limits the addresses that others receive to the phone or to the LID. */
  known?: "phone" | "lid";
}

/** The outcome of a message to a number that no instance has paired. */
export interface NumberBehaviour {
  rule: "accepted" | "slow" | "silent" | "refused" | "missing";
  deliveredMs?: number;
  readMs?: number;
  echoMs?: number;
}

/** Fixed behaviours by the last four digits, like the test cards of payment providers. */
export function behaviourOf(phone: string | null, timing: SandboxTiming): NumberBehaviour {
  const { deliveredMs, readMs, echoMs, slowAckMs } = timing;
  if (phone !== null && !isOnNetwork(phone)) return { rule: "missing" };
  switch (phone?.slice(-4)) {
    case "0001":
      return { rule: "refused" };
    case "0002":
      return { rule: "silent" };
    case "0003":
      return { rule: "accepted", deliveredMs };
    case "0004":
      return { rule: "accepted", deliveredMs, readMs, echoMs };
    case "0005":
      return { rule: "slow", deliveredMs: slowAckMs + deliveredMs, readMs: slowAckMs + readMs };
    default:
      return { rule: "accepted", deliveredMs, readMs };
  }
}

/**
 * Numbers that end in 0000 or have no country code are not on the network. A Brazilian number in 0007 exists
 * only without the ninth digit.
 */
export function isOnNetwork(phone: string): boolean {
  return !phone.endsWith("0000") && !/^55\d{2}9\d{4}0007$/.test(phone) && hasCountryCode(phone);
}

const SHORTEST_WITH_COUNTRY = 10;

/** False if no country code matches; after the 1 of North America, no area code begins with 0 or 1. */
function hasCountryCode(phone: string): boolean {
  if (phone.length < SHORTEST_WITH_COUNTRY || /^1[01]/.test(phone)) return false;
  return parsePhoneNumberFromString(`+${phone}`) !== undefined;
}

/** Whether the person does not allow others to add them to groups. */
export function rejectsGroupInvites(phone: string): boolean {
  return phone.endsWith("0006");
}

/** The person with every address that the network reports. */
export function identityOf({ phone, push_name, known }: SandboxPerson): Identity {
  if (known === "lid") return { jid: lidOf(phone), lid: lidOf(phone), phone: null, push_name };
  return { jid: phoneJid(phone), lid: known === "phone" ? null : lidOf(phone), phone, push_name };
}

// A permutation of the numbers below 2^54: stable, different for each phone, and reversible without a table.
const BITS = 54;
const FACTOR = 0x1d_9f3b_52c7_4e6dn;
const MASK = 0x2a_5c31_7be0_94f3n;
const UNDO = inverseOf(FACTOR);

/** The LID of a phone, derived by the network; never changes. */
export function lidOf(phone: string): Jid {
  // A leading 1 preserves leading zeros.
  const mixed = BigInt.asUintN(BITS, BigInt(`1${phone}`) * FACTOR) ^ MASK;
  return lidJid(mixed.toString().padStart(17, "0"));
}

/** The phone of a person's jid or LID; null for a group and for a LID that was never assigned. */
export function phoneOf(jid: string): string | null {
  if (!isLidJid(jid)) return phoneOfJid(jid);
  const digits = /^(\d{17})@/.exec(jid)?.[1];
  if (digits === undefined) return null;
  const phone = BigInt.asUintN(BITS, (BigInt(digits) ^ MASK) * UNDO).toString();
  return /^1\d{7,15}$/.test(phone) ? phone.slice(1) : null;
}

function inverseOf(odd: bigint): bigint {
  let inverse = odd;
  // Newton's step doubles the number of right bits: 3, 6, 12, 24, 48, 96.
  for (let step = 0; step < 5; step++) inverse = BigInt.asUintN(BITS, inverse * (2n - odd * inverse));
  return inverse;
}

/** The owner of a phone that was paired here. */
export function ownerOf(phone: string): SandboxPerson {
  return { phone, push_name: `Sandbox ${phone.slice(-4)}` };
}

const NUMBERS_OF_A_BLOCK = 9_000;

/** How many free numbers the network can assign. */
export const AVAILABLE_NUMBERS = 3_000 * NUMBERS_OF_A_BLOCK;

/** The n-th assigned number: Brazilian mobile, never one with a fixed behaviour. */
export function nthNumber(n: number): string {
  const block = 7_000 + Math.floor(n / NUMBERS_OF_A_BLOCK);
  return `55119${block}${1_000 + (n % NUMBERS_OF_A_BLOCK)}`;
}

/**
 * With this limit, a send that is never acknowledged has its outcome after minutes instead of the whole hold
 * time.
 */
export const MOST_UNCONFIRMED_TRIES = 2;
