import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { CredentialStore, NetworkEvent, OpenSessionOptions, SessionStartFailure } from "../driver.ts";
import { resultWithin } from "../result-within.ts";
import { SessionStartRetry } from "../session-start-retry.ts";
import { type CloseReason, SandboxConnection } from "./connection/sandbox-connection.ts";
import type { SandboxRuntime } from "./connection/sandbox-runtime.ts";
import { type LoggedInDevice, logIn, unlinkDevice } from "./pairing/log-in.ts";
import { credentialsOf, pairDevice, tokenOf } from "./pairing/pair-device.ts";
import { identityOf } from "./sandbox-numbers.ts";

export const SANDBOX_PLATFORM = "sandbox";

/** Retry at once, after a pause, after this pause, or not at all. */
type Next = "again" | "later" | { waitMs: number } | "end";

/**
 * The loop that connect() starts: pairing, login and logins again, until the network or the gateway ends it.
 */
export class SandboxConnectionLoop {
  readonly #runtime: SandboxRuntime;
  readonly #account: number;
  readonly #credentials: CredentialStore;
  readonly #report: OpenSessionOptions["report"];
  readonly #pairingPhone: string | undefined;
  readonly #activeAt: Date | undefined;
  readonly #failures: SessionStartRetry;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  #connection: SandboxConnection | undefined;
  #isPairing = false;
  #isOver = false;

  constructor(
    runtime: SandboxRuntime,
    options: OpenSessionOptions,
    pairingPhone: string | undefined,
    after: Promise<void>,
  ) {
    this.#runtime = runtime;
    this.#account = options.account_id;
    this.#credentials = options.credentials;
    this.#report = options.report;
    this.#pairingPhone = pairingPhone;
    this.#activeAt = options.activeAt;
    const { report, isTransientError, instance_id } = options;
    const { timing, log } = runtime;
    this.#failures = new SessionStartRetry({
      report,
      isTransientError,
      instance_id,
      timing,
      log,
      reportDurably: (event) => this.#reportUntilStored(event),
    });
    this.#ended = this.#run(after);
  }

  /** The open socket, if any. */
  get connection(): SandboxConnection | undefined {
    return this.#connection;
  }

  /** The loop has ended and reports nothing more. */
  get isFinished(): boolean {
    return this.#isOver;
  }

  /** Whether a connect() with this phone requests another pairing method than the current one. */
  usesOtherPairing(pairingPhone: string | undefined): boolean {
    return this.#isPairing && pairingPhone !== undefined && pairingPhone !== this.#pairingPhone;
  }

  /** Ends the loop without a report; the identity stays stored. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#connection?.close();
    await resultWithin(this.#ended, this.#runtime.timing.closeMs);
  }

  terminate(): void {
    this.#stop.abort();
    this.#connection?.terminate();
    this.#runtime.unregister(this);
  }

  async #run(after: Promise<void>): Promise<void> {
    await after;
    while (!this.#isStopped()) {
      const next = await this.#step();
      if (next === "end") break;
      if (next === "later") await this.#sleep(this.#runtime.timing.reconnectMs * (0.5 + Math.random()));
      else if (typeof next === "object") await this.#sleep(next.waitMs);
    }
    this.#isOver = true;
    this.#runtime.unregister(this);
  }

  async #step(): Promise<Next> {
    let fault: SessionStartFailure = "session_failed";
    try {
      await this.#runtime.register(this);
      fault = "credentials_unreadable";
      const credentials = await this.#credentials.load();
      fault = "session_failed";
      if (this.#isStopped()) return "end";
      const next = credentials ? await this.#logIn(tokenOf(credentials)) : await this.#pair();
      this.#failures.reset();
      return next;
    } catch (error) {
      return this.#isStopped() ? "end" : this.#failures.onFailure(fault, error);
    }
  }

  async #pair(): Promise<Next> {
    this.#isPairing = true;
    const token = await pairDevice({
      pool: this.#runtime.pool,
      host: this.#runtime.host.id,
      account_id: this.#account,
      timing: this.#runtime.timing,
      phone: this.#pairingPhone,
      report: (event) => this.#reportUntilStored(event),
      waitForScan: (pairing, ms) => this.#waitForScan(pairing, ms),
      isStopped: () => this.#isStopped(),
    }).finally(() => {
      this.#isPairing = false;
    });
    if (token !== undefined) return this.#storePairing(token);
    await this.#reportUntilStored({ type: "qr_expired" });
    return "end";
  }

  // Stores the identity before any report that the device is paired.
  async #storePairing(token: string): Promise<Next> {
    try {
      await this.#credentials.save(credentialsOf(token));
      return "again";
    } catch (error) {
      this.#runtime.log?.warn({ err: error }, "sandbox: the new pairing could not be stored");
      await resultWithin(unlinkDevice(this.#runtime.pool, token), this.#runtime.timing.closeMs);
      await this.#reportUntilStored({ type: "disconnected", reason: "closed", will_retry: false });
      return "end";
    }
  }

  #waitForScan(pairing: string, ms: number): Promise<void> {
    const { signal } = this.#stop;
    return new Promise((resolve) => {
      const timer = setTimeout(() => done(), ms);
      const stopWaiting = this.#runtime.onScan(pairing, () => done());
      const done = () => {
        clearTimeout(timer);
        stopWaiting();
        signal.removeEventListener("abort", done);
        resolve();
      };
      signal.addEventListener("abort", done);
      if (signal.aborted) done();
    });
  }

  async #logIn(token: string): Promise<Next> {
    const session = randomUUID();
    const leave = await this.#runtime.opening.acquire(this.#activeAt);
    if (this.#isStopped()) {
      leave();
      return "end";
    }
    const login = { token, account_id: this.#account, session, host: this.#runtime.host.id };
    const outcome = await logIn(this.#runtime.pool, login).finally(leave);
    if (outcome.state === "open") return this.#stayOnline(outcome.me, session);
    return this.#afterClose(outcome.state);
  }

  async #stayOnline(me: LoggedInDevice, session: string): Promise<Next> {
    const connection = new SandboxConnection(this.#runtime, me, session, (event) => this.#report(event));
    this.#connection = connection;
    // Notifies a replaced session of this process.
    this.#runtime.wakeups.device(me.device);
    if (this.#isStopped()) await connection.close();
    await this.#reportUntilStored({ type: "connected", me: identityOf(me), platform: SANDBOX_PLATFORM });
    this.#runtime.attach(connection);
    connection.poll();
    const reason = await connection.closed;
    this.#connection = undefined;
    return this.#isStopped() ? "end" : this.#afterClose(reason);
  }

  async #afterClose(reason: CloseReason): Promise<Next> {
    switch (reason) {
      case "lost":
        await this.#reportUntilStored({ type: "disconnected", reason: "connection_lost", will_retry: true });
        return "later";
      case "replaced":
        await this.#reportUntilStored({ type: "disconnected", reason: "replaced", will_retry: false });
        return "end";
      case "unlinked":
        await resultWithin(this.#credentials.erase(), this.#runtime.timing.closeMs);
        await this.#reportUntilStored({ type: "logged_out", reason: "unlinked" });
        return "end";
      case "banned":
        await this.#reportUntilStored({ type: "banned", reason: "banned" });
        return "end";
      case "closed":
        return "end";
    }
  }

  // The gateway must learn the session's state, so a failed report is repeated.
  async #reportUntilStored(event: NetworkEvent): Promise<void> {
    while (!this.#isStopped()) {
      try {
        return await this.#report(event);
      } catch (error) {
        this.#runtime.log?.warn({ err: error }, `sandbox: ${event.type} could not be reported`);
        await this.#sleep(this.#runtime.timing.redeliverMs);
      }
    }
  }

  async #sleep(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }

  #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }
}
