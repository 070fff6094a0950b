import type { Pool } from "pg";
import type { NetworkDriver, OpenSessionOptions, Session } from "../driver.ts";
import { ignoreIdleErrors } from "./connection/ignore-idle-errors.ts";
import { type SandboxLog, SandboxRuntime } from "./connection/sandbox-runtime.ts";
import { MOST_UNCONFIRMED_TRIES } from "./sandbox-numbers.ts";
import { SandboxSession } from "./sandbox-session.ts";
import { SANDBOX_TIMING, type SandboxTiming } from "./sandbox-timing.ts";

export interface SandboxDriverOptions {
  /** The network's own pool, with at least 4 connections; one is held while a session is open. */
  pool: Pool;
  log?: SandboxLog;
  timing?: Partial<SandboxTiming>;
  /** Base URL of the pictures of people and groups; the picture's id follows. */
  pictureBase?: string;
}

export interface SandboxDriver extends NetworkDriver {
  /** Drops every session without reporting or notifying the network, as kill -9 does. */
  terminate(): void;
}

/** The network without phones. Its state is in the schema `sandbox`, so all processes share one network. */
export function createSandboxDriver({
  pool,
  log,
  timing,
  pictureBase = "https://pictures.sandbox.invalid/",
}: SandboxDriverOptions): SandboxDriver {
  ignoreIdleErrors(pool);
  const runtime = new SandboxRuntime(pool, { ...SANDBOX_TIMING, ...timing }, log);
  const pictureUrl = (picture: string | null) =>
    picture === null || /^https?:/.test(picture) ? picture : `${pictureBase}${picture}`;
  return {
    network: "sandbox",
    mostUnconfirmedTries: MOST_UNCONFIRMED_TRIES,
    open: (options: OpenSessionOptions): Session => new SandboxSession(runtime, options, pictureUrl),
    terminate: () => runtime.terminate(),
  };
}
