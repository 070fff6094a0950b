import { SESSION_START_TIMING, type SessionStartTiming } from "../session-start-retry.ts";

/** How long things may take, in milliseconds. */
export interface WhatsAppTiming extends SessionStartTiming {
  /** QRs of one pairing. */
  qrAttempts: number;
  /** The network lets the first QR of a connection live longer. */
  firstQrMs: number;
  laterQrMs: number;
  /** A QR that is drawn anew with less time left cannot be scanned; the next one is shown instead. */
  scanMs: number;
  /** A pairing code, from its generation. */
  codeMs: number;
  /** From an entry of the code to the phone's consent. */
  consentMs: number;
  /** How often one code can be entered. */
  codeEntries: number;
  /** Codes of one connect(): WhatsApp gives a number about seven in some hours. */
  codes: number;
  /** For an answer to what a pairing asks the network. */
  queryMs: number;
  /** Tries to reach the network while there is no pairing. */
  pairingTries: number;
  /** From the first byte to a QR, or to the login. */
  connectMs: number;
  pingMs: number;
  /** Without any stanza for so long the connection counts as deaf; longer than `pingMs`. */
  deafMs: number;
  /** What is under way in an old connection ends before a new one begins. */
  settleMs: number;
  /** The wait before the nth try is random, and at most this times 2^n ... */
  backoffMs: number;
  /** ... or this. */
  backoffMaxMs: number;
  /** After so long a connection counts as a success, and the tries begin anew. */
  steadyMs: number;
  /** Before a report or a write that failed is tried again. */
  retryMs: number;
  /** Before we end a connection: reports and writes under way. Another node may be about to connect. */
  finishMs: number;
  /** After the end of a connection: reports and writes under way. */
  closeMs: number;
  logoutMs: number;
  /** For a phone to upload a file again that the network has no longer. */
  phoneMs: number;
  /** The proof that the scanned QR was ours counts for so long after the network has asked for a passkey. */
  passkeyHandoffMs: number;
  /** For the phone to answer a signed challenge. */
  passkeyAnswerMs: number;
  /** For a person to compare the code. */
  passkeyConfirmMs: number;
  /** For the phone to link once it has everything. */
  passkeyFinishMs: number;
  /** Connections that open at the same time, and how far apart they begin at most. */
  openAtOnce: number;
  openJitterMs: number;
  /** Connections that begin in a second at most. */
  openPerSecond: number;
  /** Before the first of many, so that the one used last goes first. */
  openGatherMs: number;
}

export const WHATSAPP_TIMING: WhatsAppTiming = {
  ...SESSION_START_TIMING,
  qrAttempts: 5,
  firstQrMs: 60_000,
  laterQrMs: 20_000,
  scanMs: 10_000,
  codeMs: 180_000,
  consentMs: 60_000,
  codeEntries: 3,
  codes: 3,
  queryMs: 30_000,
  pairingTries: 3,
  connectMs: 30_000,
  pingMs: 25_000,
  deafMs: 40_000,
  settleMs: 150,
  backoffMs: 1_000,
  backoffMaxMs: 120_000,
  steadyMs: 60_000,
  retryMs: 1_000,
  finishMs: 1_000,
  closeMs: 3_000,
  logoutMs: 5_000,
  phoneMs: 60_000,
  passkeyHandoffMs: 300_000,
  passkeyAnswerMs: 45_000,
  passkeyConfirmMs: 180_000,
  passkeyFinishMs: 60_000,
  openAtOnce: 10,
  openJitterMs: 100,
  openPerSecond: 50,
  openGatherMs: 50,
};
