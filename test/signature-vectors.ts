import { signBody, signStandard } from "../src/core/webhooks/delivery/webhook-signature.ts";

/** A text, or a repeated short one. */
type HeaderText = string | { repeat: string; times: number };
/** A list repeats the header. */
export type HeaderValue = HeaderText | readonly HeaderText[];

/** A webhook request, and whether a verifier accepts it at `now`. */
export interface SignatureVector {
  about: string;
  valid: boolean;
  secret: string;
  /** Unix time in seconds. */
  now: number;
  headers: Readonly<Record<string, HeaderValue>>;
  /** The raw body is this text repeated `times` times, in UTF-8. */
  body: string;
  times: number;
}

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const ID = "evt_01M7VZ7A9ZBG8NWRNYBYXP4FZP";
const BODY = '{"event":"message.received"}';
const FIRST = 1_795_176_000;

interface Case {
  about: string;
  valid: boolean;
  secret?: string;
  body?: string;
  times?: number;
  /** Seconds between signing and verification. */
  lateness?: number;
  id?: string;
  /** Replaced headers; null removes one. */
  changed?: (genuine: string) => Record<string, HeaderValue | null>;
}

const SIGNATURE = "webhook-signature";
const OTHER = `v1,${"A".repeat(43)}=`;

const ACCEPTED: Case[] = [
  { about: "a body in ASCII", valid: true },
  { about: "characters beyond ASCII", valid: true, body: '{"text":"Olá, Bia 👋 — 請"}' },
  { about: "an empty body", valid: true, body: "" },
  { about: "a body of 1 MB", valid: true, body: "ação 👋 ", times: 100_000 },
  {
    about: "a secret of one's own that is not base64",
    valid: true,
    secret: "not-in-the-usual-form-1",
    body: "{}",
  },
  {
    about: "a secret of one's own that is base64",
    valid: true,
    secret: "c2VjcmV0LXdpdGhvdXQtcHJlZml4",
    body: "{}",
  },
  {
    about: "a secret with the prefix, not base64",
    valid: true,
    secret: "whsec_not-base64-at-all?",
    body: "{}",
  },
  {
    about: "two signatures, as during a change of the secret",
    valid: true,
    changed: (genuine) => ({ [SIGNATURE]: `${OTHER} ${genuine}` }),
  },
  {
    about: "a signature of another version beside it",
    valid: true,
    changed: (genuine) => ({ [SIGNATURE]: `v1a,x ${genuine}` }),
  },
  {
    about: "a repeated header with one genuine signature",
    valid: true,
    changed: (genuine) => ({ [SIGNATURE]: [OTHER, genuine] }),
  },
  {
    about: "a repeated header that a server has joined with commas",
    valid: true,
    changed: (genuine) => ({ [SIGNATURE]: `${OTHER},${genuine}` }),
  },
  { about: "the last second of the tolerance", valid: true, lateness: 300 },
];

const header = (name: string, value: HeaderValue | null) => () => ({ [name]: value });

const REJECTED: Case[] = [
  {
    about: "a signature with another end",
    valid: false,
    changed: (genuine) => ({ [SIGNATURE]: genuine.replace(/.{8}=$/, "AAAAAAA=") }),
  },
  { about: "a replay", valid: false, lateness: 301 },
  { about: "a time in the future", valid: false, lateness: -301 },
  { about: "another id", valid: false, changed: header("webhook-id", "evt_2") },
  { about: "another time", valid: false, changed: header("webhook-timestamp", String(FIRST + 1)) },
  { about: "no signature", valid: false, changed: header(SIGNATURE, null) },
  { about: "no id", valid: false, changed: header("webhook-id", null) },
  { about: "no time", valid: false, changed: header("webhook-timestamp", null) },
  { about: "an empty signature", valid: false, changed: header(SIGNATURE, "") },
  {
    about: "a signature without its version",
    valid: false,
    changed: (genuine) => ({ [SIGNATURE]: genuine.slice("v1,".length) }),
  },
  {
    about: "a signature of another version",
    valid: false,
    changed: (genuine) => ({ [SIGNATURE]: genuine.replace("v1", "v2") }),
  },
  { about: "half a signature", valid: false, changed: (genuine) => ({ [SIGNATURE]: genuine.slice(0, 20) }) },
  { about: "a signature that is not base64", valid: false, changed: header(SIGNATURE, "v1,*") },
  {
    about: "a signature of 44 letters outside ASCII",
    valid: false,
    changed: header(SIGNATURE, `v1,${"é".repeat(44)}`),
  },
  { about: "47 letters outside ASCII", valid: false, changed: header(SIGNATURE, "é".repeat(47)) },
  {
    about: "control characters as the signature",
    valid: false,
    changed: header(SIGNATURE, "v1,\u0001\u0000\u007f"),
  },
  {
    about: "10,000 spaces as the signature",
    valid: false,
    changed: header(SIGNATURE, { repeat: " ", times: 10_000 }),
  },
  {
    about: "25,000 signatures",
    valid: false,
    changed: header(SIGNATURE, { repeat: "v1,A ", times: 25_000 }),
  },
  {
    about: "a genuine signature at the end of a header that is too long",
    valid: false,
    changed: (genuine) => ({ [SIGNATURE]: [{ repeat: "v1,A ", times: 25_000 }, genuine] }),
  },
  {
    about: "a time of 5,000 digits",
    valid: false,
    changed: header("webhook-timestamp", { repeat: "9", times: 5000 }),
  },
  { about: "a time with a line break", valid: false, changed: header("webhook-timestamp", `${FIRST}\n`) },
  { about: "a time with a sign", valid: false, changed: header("webhook-timestamp", `+${FIRST}`) },
  { about: "a time with a fraction", valid: false, changed: header("webhook-timestamp", `${FIRST}.0`) },
  { about: "a time in superscript", valid: false, changed: header("webhook-timestamp", "²") },
  { about: "a time in Arabic digits", valid: false, changed: header("webhook-timestamp", "١٧٩٥١٧٦٠٠٠") },
  { about: "a word as the time", valid: false, changed: header("webhook-timestamp", "NaN") },
  {
    about: "a repeated time",
    valid: false,
    changed: header("webhook-timestamp", [String(FIRST), String(FIRST)]),
  },
  { about: "a repeated id", valid: false, changed: header("webhook-id", [ID, ID]) },
  { about: "an id outside ASCII", valid: false, changed: header("webhook-id", { repeat: "é", times: 1000 }) },
  { about: "an id with a dot, signed correctly", valid: false, id: "evt_1.5" },
];

function vectorOf(one: Case, index: number): SignatureVector {
  const { about, valid, secret = SECRET, body = BODY, times = 1, lateness = 0, id = ID } = one;
  // The guide shows the first ones, each with its own time.
  const seconds = FIRST + (valid && one.changed === undefined && lateness === 0 ? index : 0);
  const bytes = Buffer.from(body.repeat(times));
  const signature = signStandard(secret, id, seconds, bytes);
  const headers: Record<string, HeaderValue | null> = {
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    [SIGNATURE]: signature,
    "x-waygate-signature": signBody(secret, bytes),
    ...one.changed?.(signature),
  };
  const kept = Object.entries(headers).filter((entry): entry is [string, HeaderValue] => entry[1] !== null);
  return { about, valid, secret, now: seconds + lateness, headers: Object.fromEntries(kept), body, times };
}

/** Genuine and hostile requests, on which every verifier must agree. */
export const SIGNATURE_VECTORS: readonly SignatureVector[] = [...ACCEPTED, ...REJECTED].map(vectorOf);

/** The headers as a server passes them on, with all values of a repeated one. */
export function headersOf({ headers }: SignatureVector): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(textOf) : textOf(value as HeaderText),
    ]),
  );
}

function textOf(value: HeaderText): string {
  return typeof value === "string" ? value : value.repeat.repeat(value.times);
}
