import { createHash } from "node:crypto";
import type { OperationErrorCode, PasskeyAssertion } from "../../session-operations.ts";
import { type PasskeyOptions, parseObject } from "./passkey-options.ts";

/** An assertion in the network's format. */
export interface SignedChallenge {
  readonly credentialId: Buffer;
  /** UTF-8 JSON of id, rawId, type and response. */
  readonly json: Buffer;
}

export interface AssertionError {
  readonly code: Extract<OperationErrorCode, "VALIDATION_ERROR" | "CONFLICT">;
  readonly reason: string;
}

interface Range {
  readonly min: number;
  readonly max: number;
}

// WebAuthn: a credential id has at most 1023 bytes, a user handle 64. Authenticator data begins with hash,
// flags and counter.
const CREDENTIAL_ID: Range = { min: 1, max: 1_023 };
const USER_HANDLE: Range = { min: 1, max: 64 };
const AUTHENTICATOR_DATA: Range = { min: 37, max: 2_048 };
const CLIENT_DATA: Range = { min: 2, max: 4_096 };
const SIGNATURE: Range = { min: 32, max: 1_024 };
const RP_ID_HASH = 32;
const BASE64URL = /^[A-Za-z0-9_-]*$/;
const ORIGIN = /^https:\/\/(?:[a-z0-9-]+\.)*whatsapp\.com$/;

/** Reads the browser's assertion for these options; names the part that the network would reject. */
export function readPasskeyAssertion(
  assertion: PasskeyAssertion,
  options: PasskeyOptions,
): SignedChallenge | AssertionError {
  const { id, rawId, type, response } = assertion;
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  const credentialId = decode(rawId, CREDENTIAL_ID);
  const clientData = decode(clientDataJSON, CLIENT_DATA);
  const authenticator = decode(authenticatorData, AUTHENTICATOR_DATA);
  if (!credentialId) return lengthFault("rawId", CREDENTIAL_ID);
  if (!clientData) return lengthFault("response.clientDataJSON", CLIENT_DATA);
  if (!authenticator) return lengthFault("response.authenticatorData", AUTHENTICATOR_DATA);
  if (!decode(signature, SIGNATURE)) return lengthFault("response.signature", SIGNATURE);
  if (userHandle !== null && !decode(userHandle, USER_HANDLE))
    return lengthFault("response.userHandle", USER_HANDLE);
  if (id !== rawId) return invalid("`id` and `rawId` must be the same text.");
  if (type !== "public-key") return invalid("`type` must be `public-key`.");
  const fault = clientDataFault(clientData, options) ?? hashFault(authenticator, options);
  if (fault) return fault;
  const sent = { id, rawId, type, response: { clientDataJSON, authenticatorData, signature, userHandle } };
  return { credentialId, json: Buffer.from(JSON.stringify(sent)) };
}

function clientDataFault(bytes: Buffer, { challenge }: PasskeyOptions): AssertionError | undefined {
  const data = parseObject(bytes.toString());
  if (data?.type !== "webauthn.get")
    return invalid("`response.clientDataJSON` is not a WebAuthn `webauthn.get`.");
  if (typeof data.origin !== "string" || !ORIGIN.test(data.origin))
    return invalid("The assertion was not made on https://web.whatsapp.com. Sign the challenge there.");
  if (data.challenge === challenge) return undefined;
  const reason =
    "The assertion signs another challenge than the present one. Fetch the challenge and sign it again.";
  return { code: "CONFLICT", reason };
}

function hashFault(authenticator: Buffer, { rpId }: PasskeyOptions): AssertionError | undefined {
  if (rpId === undefined) return undefined;
  const hash = createHash("sha256").update(rpId).digest();
  if (authenticator.subarray(0, RP_ID_HASH).equals(hash)) return undefined;
  return invalid(`\`response.authenticatorData\` is not of ${rpId}.`);
}

function decode(text: string, { min, max }: Range): Buffer | undefined {
  if (text.length > Math.ceil((max * 4) / 3) || !BASE64URL.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64url");
  const isWhole = bytes.length >= min && bytes.length <= max && bytes.toString("base64url") === text;
  return isWhole ? bytes : undefined;
}

function lengthFault(field: string, { min, max }: Range): AssertionError {
  return invalid(`\`${field}\` must be ${min} to ${max} bytes in base64url without padding.`);
}

function invalid(reason: string): AssertionError {
  return { code: "VALIDATION_ERROR", reason };
}
