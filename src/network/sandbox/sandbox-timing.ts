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
  /** How long a send without an ack stays pending. */
  silentMs: number;
  /** Mean pause before a reconnect. */
  reconnectMs: number;
  /** Interval of the poll for changes by other processes. */
  pollMs: number;
  /** Delay before a failed report is repeated. */
  redeliverMs: number;
  /** How long a closing session waits for current reports. */
  closeMs: number;
  /** Maximum number of sessions that log in at the same time, and per second. */
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
