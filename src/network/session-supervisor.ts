import type { NetworkEvent, OpenSessionOptions } from "./driver.ts";

interface ConnectionLoop {
  readonly isFinished: boolean;
  usesOtherPairing(pairingPhone: string | undefined): boolean;
  stop(): Promise<void>;
}

/** Starts a connection loop once the previous one has ended. */
type StartLoop<Loop> = (pairingPhone: string | undefined, after: Promise<void>) => Loop;

/** Runs the connection loops of a session one after another: each connect() after an end starts a new one. */
export class SessionSupervisor<Loop extends ConnectionLoop> {
  readonly #begin: StartLoop<Loop>;
  readonly #options: OpenSessionOptions;
  #loop: Loop | undefined;
  #stopping: Promise<void> = Promise.resolve();

  constructor(options: OpenSessionOptions, begin: StartLoop<Loop>) {
    this.#options = options;
    this.#begin = begin;
  }

  get current(): Loop | undefined {
    return this.#loop;
  }

  connect(pairingPhone: string | undefined): void {
    const loop = this.#loop;
    if (loop && !loop.isFinished) {
      if (!loop.usesOtherPairing(pairingPhone)) return;
      this.#stopping = loop.stop();
    }
    this.#loop = this.#begin(pairingPhone, this.#stopping);
  }

  disconnect(): Promise<void> {
    return this.#end(async (loop) => {
      if (!loop || loop.isFinished) return;
      await loop.stop();
      await this.#report({ type: "disconnected", reason: "closed", will_retry: false });
    });
  }

  /** Stops, unlinks and deletes the pairing. */
  logout(unlink: (loop: Loop | undefined) => Promise<void>): Promise<void> {
    return this.#end(async (loop) => {
      await unlink(loop);
      await this.#options.credentials.erase();
      await this.#report({ type: "disconnected", reason: "logged_out", will_retry: false });
    });
  }

  async #end(how: (loop: Loop | undefined) => Promise<void>): Promise<void> {
    const loop = this.#loop;
    this.#loop = undefined;
    const stopping = this.#stopping.then(() => how(loop));
    this.#stopping = stopping.catch(() => undefined);
    await stopping;
  }

  // The caller knows that the session ends, so a rejected report changes nothing.
  async #report(event: NetworkEvent): Promise<void> {
    await this.#options.report(event).catch(() => undefined);
  }
}
