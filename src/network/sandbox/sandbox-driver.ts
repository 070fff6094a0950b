import type { Pool } from "pg";
import type { NetworkDriver, OpenSessionOptions, Session } from "../driver.ts";
import { ignoreIdleErrors } from "./ignore-idle-errors.ts";
import { type SandboxLog, SandboxRuntime } from "./sandbox-runtime.ts";
import { SandboxSession } from "./sandbox-session.ts";
import { SANDBOX_TIMING, type SandboxTiming } from "./sandbox-timing.ts";

export interface SandboxDriverOptions {
  /** The network's own pool, of 4 connections or more; one is held for as long as a session is open. */
  pool: Pool;
  log?: SandboxLog;
  timing?: Partial<SandboxTiming>;
  /** Where the pictures of people and groups are given out, up to their id. */
  pictureBase?: string;
}

export interface SandboxDriver extends NetworkDriver {
  /** Forgets every session without a report and without a word to the network, as kill -9 does. */
  abandon(): void;
}

/** The network without phones; its state is in the schema `sandbox`, so it is one network for all processes. */
export function createSandboxDriver({
  pool,
  log,
  timing,
  pictureBase = "https://pictures.sandbox.invalid/",
}: SandboxDriverOptions): SandboxDriver {
  ignoreIdleErrors(pool);
  const hub = new SandboxRuntime(pool, { ...SANDBOX_TIMING, ...timing }, log);
  const pictureUrl = (picture: string | null) =>
    picture === null || /^https?:/.test(picture) ? picture : `${pictureBase}${picture}`;
  return {
    network: "sandbox",
    open: (options: OpenSessionOptions): Session => new SandboxSession(hub, options, pictureUrl),
    abandon: () => hub.abandon(),
  };
}
