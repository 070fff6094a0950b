import { setTimeout as pause } from "node:timers/promises";
import type { NetworkEvent, OpenSessionOptions, PairingError, SessionStartFailure } from "../driver.ts";
import { resultWithin } from "../result-within.ts";
import { SessionStartRetry } from "../session-start-retry.ts";
import type { SocketClose } from "./connection/baileys-socket.ts";
import {
  DISCONNECT_REASONS,
  disconnectActionOf,
  PAIRING_LOST_CODE,
  TEMPORARY_BAN_CODE,
} from "./connection/disconnect-action.ts";
import type { WhatsAppConnection } from "./connection/whatsapp-connection.ts";
import type { WhatsAppRuntime } from "./connection/whatsapp-runtime.ts";
import type { BaileysCredentials } from "./keys/baileys-credentials.ts";
import type { SessionCaches } from "./keys/session-caches.ts";
import type { BaileysModule } from "./load-baileys.ts";
import { connectionError } from "./pairing/pairing-error.ts";
import type { PasskeyCeremony } from "./pairing/passkey-ceremony.ts";

export interface WhatsAppConnectionLoopOptions extends OpenSessionOptions {
  runtime: WhatsAppRuntime;
  loadBaileys(): Promise<BaileysModule>;
  /** Digits; requests a pairing code instead of QRs. */
  pairingPhone: string | undefined;
  /** Work that must end first. */
  previousEnded: Promise<void>;
}

/** Retry at once, after a pause, after this pause, or not at all. */
type Next = "at_once" | "later" | { waitMs: number } | "end";

/**
 * The loop that connect() starts: pairing, login and logins again, until the network or the gateway ends it.
 */
export class WhatsAppConnectionLoop {
  readonly #options: WhatsAppConnectionLoopOptions;
  readonly #runtime: WhatsAppRuntime;
  readonly #failures: SessionStartRetry;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  /** Resolves with the first connection; rejects if the loop ends without one. */
  readonly online: Promise<WhatsAppConnection>;
  #resolveOnline: (connection: WhatsAppConnection) => void = () => {};
  #rejectOnline: (error: Error) => void = () => {};
  #caches: SessionCaches;
  #connection: WhatsAppConnection | undefined;
  #opening: WhatsAppConnection | undefined;
  #ceremony: PasskeyCeremony | undefined;
  #isPairing = false;
  #isOver = false;
  #shownCodes = 0;
  #attempts = 0;
  /** Rate limits in a row. */
  #limits = 0;

  constructor(options: WhatsAppConnectionLoopOptions) {
    this.#options = options;
    this.#runtime = options.runtime;
    const { report, isTransientError, instance_id } = options;
    const { timing, log } = options.runtime;
    this.#failures = new SessionStartRetry({
      report,
      isTransientError,
      instance_id,
      timing,
      log,
      reportDurably: (event) => this.#report(event),
    });
    this.#caches = options.runtime.caches.forSession();
    this.online = new Promise((resolve, reject) => {
      this.#resolveOnline = resolve;
      this.#rejectOnline = reject;
    });
    this.#runtime.connectionLoops.add(this);
    this.#ended = this.#run();
    void this.online.catch(() => {});
  }

  /** The open connection, if any. */
  get connection(): WhatsAppConnection | undefined {
    return this.#connection;
  }

  /** The passkey ceremony that the account requires before it links, if any. */
  get passkeyCeremony(): PasskeyCeremony | undefined {
    return this.#ceremony;
  }

  /** The loop has ended and reports nothing more. */
  get isFinished(): boolean {
    return this.#isOver;
  }

  /** Whether a connect() with this phone requests another pairing method than the current one. */
  usesOtherPairing(pairingPhone: string | undefined): boolean {
    return this.#isPairing && pairingPhone !== undefined && pairingPhone !== this.#options.pairingPhone;
  }

  /** Ends the loop without a report; the identity stays stored. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const connection = this.#opening;
    if (connection) await connection.close();
    await resultWithin(this.#ended, this.#runtime.timing.closeMs);
  }

  /** Acts like the death of the process: nothing is reported or stored any more. */
  terminate(): void {
    this.#stop.abort();
    this.#opening?.terminate();
    this.#runtime.connectionLoops.delete(this);
  }

  async #run(): Promise<void> {
    await this.#options.previousEnded;
    while (!this.#isStopped()) {
      const next = await this.#step();
      if (next === "end") break;
      const waitMs = typeof next === "object" ? next.waitMs : next === "later" ? this.#backoffMs() : 0;
      await this.#sleep(this.#runtime.timing.flushMs + waitMs);
    }
    this.#isOver = true;
    this.#runtime.connectionLoops.delete(this);
    this.#rejectOnline(new Error("The session has ended."));
  }

  async #step(): Promise<Next> {
    let fault: SessionStartFailure = "library_failed";
    try {
      const baileys = await this.#options.loadBaileys();
      fault = "credentials_unreadable";
      const stored = await this.#options.credentials.load();
      if (this.#isStopped()) return "end";
      this.#isPairing = !stored;
      const creds = stored && baileys.readCredentials(stored);
      fault = "session_failed";
      const next = creds ? await this.#logIn(baileys, creds) : await this.#pair(baileys);
      this.#failures.reset();
      return next;
    } catch (error) {
      return this.#isStopped() ? "end" : this.#failures.onFailure(fault, error);
    }
  }

  async #pair({ pair }: BaileysModule): Promise<Next> {
    const { signal } = this.#stop;
    const { runtime, pairingPhone, deviceName, proxy, lookup, isTransientError } = this.#options;
    const result = await pair({
      runtime,
      store: this.#options.credentials,
      phone: pairingPhone,
      deviceName,
      proxy,
      lookup,
      isTransientError,
      shown: this.#shownCodes,
      signal,
      report: (event, isStale) => this.#report(event, isStale),
      onCeremony: (ceremony) => {
        this.#ceremony = ceremony;
      },
    });
    this.#ceremony = undefined;
    switch (result.end) {
      case "paired":
        this.#attempts = 0;
        this.#caches = this.#runtime.caches.forSession();
        return "at_once";
      case "failed":
        return this.#reportFailed(result.error);
      case "closed":
        return this.#afterPairing(result.shown, result.socketClose);
    }
  }

  /** Limits the attempts while there is no pairing. */
  async #afterPairing(shown: number, { code, detail, version }: SocketClose): Promise<Next> {
    const { pairingAttempts, codes } = this.#runtime.timing;
    const disconnectAction = disconnectActionOf(code);
    if (disconnectAction === "outdated") return this.#afterRefusal(version);
    const limitMs = disconnectAction === "limited" ? this.#limitMs() : undefined;
    const hasShown = shown > this.#shownCodes;
    this.#attempts = hasShown ? 1 : this.#attempts + 1;
    this.#shownCodes = shown;
    const isLast = this.#options.pairingPhone !== undefined && shown >= codes;
    const will_retry = this.#attempts < pairingAttempts && !isLast;
    const error = will_retry ? undefined : connectionError(limitMs);
    // A shown QR or code ends with its connection.
    if (hasShown || !will_retry || limitMs !== undefined) {
      const reason = limitMs === undefined ? "connection_lost" : "rate_limited";
      const reported = will_retry ? `${detail}${waitOf(limitMs)}` : detail;
      await this.#report({ type: "disconnected", reason, will_retry, detail: reported, error });
    }
    if (!will_retry) return "end";
    return limitMs === undefined ? "later" : { waitMs: limitMs };
  }

  async #reportFailed(error: PairingError): Promise<Next> {
    const isExpired = error.code === "qr_expired" || error.code === "code_expired";
    const failed = { reason: "pairing_failed", will_retry: false, detail: error.message } as const;
    await this.#report(
      isExpired ? { type: "qr_expired", error } : { type: "disconnected", ...failed, error },
    );
    return "end";
  }

  async #logIn({ Connection }: BaileysModule, creds: BaileysCredentials): Promise<Next> {
    const leave = await this.#runtime.connectionRateLimiter.acquire(this.#options.activeAt);
    try {
      if (this.#isStopped()) return "end";
      const { keys } = this.#options.credentials;
      if (!keys) throw new Error("The credentials have no key store.");
      const connection = await Connection.begin({ ...this.#options, caches: this.#caches, keys, creds });
      this.#opening = connection;
      if (this.#isStopped()) await connection.close();
      if (await connection.opened()) {
        leave();
        await this.#stayOnline(connection);
      }
      return await this.#afterClose(await connection.whenDone());
    } finally {
      this.#opening = undefined;
      leave();
    }
  }

  async #stayOnline(connection: WhatsAppConnection): Promise<void> {
    const since = performance.now();
    this.#connection = connection;
    this.#resolveOnline(connection);
    await this.#report({ type: "connected", me: connection.me, platform: connection.platform });
    await connection.closed;
    this.#connection = undefined;
    if (performance.now() - since > this.#runtime.timing.stableAfterMs) this.#attempts = this.#limits = 0;
  }

  async #afterClose({ code, detail, version }: SocketClose): Promise<Next> {
    if (this.#isStopped() || code === PAIRING_LOST_CODE) return "end";
    const disconnectAction = disconnectActionOf(code);
    if (disconnectAction === "unlinked") {
      // If the deletion fails, the next login gets the same error and repeats it.
      await resultWithin(this.#options.credentials.erase(), this.#runtime.timing.closeMs);
      await this.#report({ type: "logged_out", reason: "unlinked" });
      return "end";
    }
    if (disconnectAction === "banned") {
      await this.#report({
        type: "banned",
        reason: code === TEMPORARY_BAN_CODE ? "banned_for_a_while" : "banned",
      });
      return "end";
    }
    if (disconnectAction === "outdated") return this.#afterRefusal(version);
    const will_retry = disconnectAction !== "replaced";
    if (will_retry) this.#attempts++;
    const waitMs = disconnectAction === "limited" ? this.#limitMs() : undefined;
    const reported = `${detail} (${code}), try ${this.#attempts}${waitOf(waitMs)}`;
    await this.#report({
      type: "disconnected",
      reason: DISCONNECT_REASONS[disconnectAction],
      will_retry,
      ...(will_retry && { detail: reported }),
    });
    if (disconnectAction === "replaced") return "end";
    return disconnectAction === "limited" ? { waitMs: waitMs ?? 0 } : disconnectAction;
  }

  /** Tries each new version once, so that the retries end. */
  async #afterRefusal(version: SocketClose["version"]): Promise<Next> {
    const { canRetry, message, action } = await this.#runtime.reportVersionRejected(version);
    await this.#report({
      type: "disconnected",
      reason: "outdated",
      will_retry: canRetry,
      detail: `${message} ${action}`,
      ...(this.#isPairing && !canRetry && { error: { code: "client_outdated", message, action } }),
    });
    return canRetry ? "at_once" : "end";
  }

  // The gateway must learn the session's state, so a failed report is repeated.
  async #report(event: NetworkEvent, isStale: () => boolean = () => false): Promise<void> {
    while (!this.#isStopped() && !isStale()) {
      try {
        return await this.#options.report(event);
      } catch (error) {
        this.#runtime.log?.warn({ err: error }, `whatsapp: ${event.type} could not be reported`);
        await this.#sleep(this.#runtime.timing.retryMs);
      }
    }
  }

  /** Full jitter: a random delay up to a limit that doubles with each attempt. */
  #backoffMs(): number {
    const { backoffMs, backoffMaxMs } = this.#runtime.timing;
    // A user waits for the pairing.
    const tries = this.#isPairing ? 0 : this.#attempts;
    return Math.random() * Math.min(backoffMaxMs, backoffMs * 2 ** tries);
  }

  #limitMs(): number {
    const { rateLimitMs } = this.#runtime.timing;
    return rateLimitMs[Math.min(this.#limits++, rateLimitMs.length - 1)] ?? 0;
  }

  async #sleep(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#stop.signal }).catch(() => {});
  }

  #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }
}

function waitOf(limitMs: number | undefined): string {
  return limitMs === undefined ? "" : `, next in ${limitMs / 1000} s`;
}
