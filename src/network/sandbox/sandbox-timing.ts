import { SESSION_START_TIMING, type SessionStartTiming } from "../session-start-retry.ts";

/** Times of the sandbox network in milliseconds; tests shorten them. */
export interface SandboxTiming extends SessionStartTiming {
  firstQrMs: number;
  laterQrMs: number;
  qrAttempts: number;
  pairingCodeMs: number;
  deliveredMs: number;
  readMs: number;
  echoMs: number;
  slowAckMs: number;
  /** How long a send without an ack is kept open. */
  silentMs: number;
  /** Mean pause before the connection is tried again. */
  reconnectMs: number;
  /** How often what other processes did is looked for. */
  pollMs: number;
  /** After a report that failed, how long until the same is reported again. */
  redeliverMs: number;
  /** How long a closing session waits for reports in flight. */
  closeMs: number;
  /** Sessions that log in at the same time, and in a second, at most. */
  openAtOnce: number;
  openPerSecond: number;
}

export const SANDBOX_TIMING: SandboxTiming = {
  ...SESSION_START_TIMING,
  firstQrMs: 60_000,
  laterQrMs: 20_000,
  qrAttempts: 5,
  pairingCodeMs: 140_000,
  deliveredMs: 30,
  readMs: 60,
  echoMs: 80,
  slowAckMs: 3_000,
  silentMs: 600_000,
  reconnectMs: 500,
  pollMs: 500,
  redeliverMs: 1_000,
  closeMs: 2_000,
  openAtOnce: 4,
  openPerSecond: 50,
};
