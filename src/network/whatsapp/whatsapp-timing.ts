import { SESSION_START_TIMING, type SessionStartTiming } from "../session-start-retry.ts";
import { QR_TIMING, type QrTiming } from "./qr-timing.ts";

/** Time limits in milliseconds, and counts. */
export interface WhatsAppTiming extends SessionStartTiming, QrTiming {
  /** Lifetime of a pairing code, from its generation. */
  codeMs: number;
  /** From an entry of the code to the phone's consent. */
  consentMs: number;
  /** Maximum number of entries of one code. */
  codeEntries: number;
  /** Maximum number of codes in one connect(): WhatsApp allows about seven per number in a few hours. */
  codes: number;
  /** Timeout for the network's response to a query of a pairing. */
  queryMs: number;
  /** Maximum number of attempts to reach the network while there is no pairing. */
  pairingAttempts: number;
  /** From the first byte to a QR, or to the login. */
  connectMs: number;
  pingMs: number;
  /** From the login to the end of the offline queue; afterwards Baileys does not wait for it any more. */
  offlineMs: number;
  /** An offline queue from which nothing comes for this long is withheld. */
  stalledQueueMs: number;
  /** A connection without any stanza for this long counts as dead; longer than `pingMs`. */
  silentSocketMs: number;
  /** Delay before a new connection, so that the work of the old one can end. */
  flushMs: number;
  /** The delay before the nth attempt is random, and at most this times 2^n ... */
  backoffMs: number;
  /** ... or this. */
  backoffMaxMs: number;
  /** After a rate limit: the delay before each attempt in a row, the last one also before later ones. */
  rateLimitMs: readonly number[];
  /** After this time a connection counts as a success, and the count of attempts restarts. */
  stableAfterMs: number;
  /** Delay before a failed report or write is retried. */
  retryMs: number;
  /**
   * Before we end a connection: time for current reports and writes. Another node may be waiting to connect.
   */
  finishMs: number;
  /** After the end of a connection: time for current reports and writes. */
  closeMs: number;
  logoutMs: number;
  /** Time for a phone to upload a file again that the network no longer has. */
  phoneMs: number;
  /** How long the proof that the scanned QR was ours is valid after the network has requested a passkey. */
  passkeyHandoffMs: number;
  /** Time for the phone to respond to a signed challenge. */
  passkeyResponseMs: number;
  /** Time for the user to compare the code. */
  passkeyConfirmMs: number;
  /** Time for the phone to link once it has all data. */
  passkeyFinishMs: number;
  /** Lifetime of the signed pre-key, with which other devices begin a conversation. */
  signedPreKeyMs: number;
  /** Maximum number of connections that open at the same time, and the maximum gap between their starts. */
  openAtOnce: number;
  openJitterMs: number;
  /** Maximum number of connections that start per second. */
  openPerSecond: number;
  /** Delay of the first connection of many, so that the most recently used goes first. */
  openGatherMs: number;
}

export const WHATSAPP_TIMING: WhatsAppTiming = {
  ...SESSION_START_TIMING,
  ...QR_TIMING,
  codeMs: 180_000,
  consentMs: 60_000,
  codeEntries: 3,
  codes: 3,
  queryMs: 30_000,
  pairingAttempts: 3,
  connectMs: 30_000,
  pingMs: 25_000,
  offlineMs: 30_000,
  stalledQueueMs: 60_000,
  silentSocketMs: 40_000,
  flushMs: 150,
  backoffMs: 1_000,
  backoffMaxMs: 120_000,
  rateLimitMs: [8_000, 146_000, 814_000, 904_000],
  stableAfterMs: 60_000,
  retryMs: 1_000,
  finishMs: 1_000,
  closeMs: 3_000,
  logoutMs: 5_000,
  phoneMs: 60_000,
  passkeyHandoffMs: 300_000,
  passkeyResponseMs: 45_000,
  passkeyConfirmMs: 180_000,
  passkeyFinishMs: 60_000,
  signedPreKeyMs: 7 * 86_400_000,
  openAtOnce: 10,
  openJitterMs: 100,
  openPerSecond: 50,
  openGatherMs: 50,
};
