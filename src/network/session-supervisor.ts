import type { NetworkEvent, OpenSessionOptions } from "./driver.ts";

interface ConnectionLoop {
  readonly isOver: boolean;
  pairsOtherwise(pairingPhone: string | undefined): boolean;
  stop(): Promise<void>;
}

/** Begins a life once the one before has ended. */
type StartLoop<Life> = (pairingPhone: string | undefined, after: Promise<void>) => Life;

/** The lives of a session, one after another: each connect() after an end is a new one. */
export class SessionSupervisor<Life extends ConnectionLoop> {
  readonly #begin: StartLoop<Life>;
  readonly #options: OpenSessionOptions;
  #life: Life | undefined;
  #ending: Promise<void> = Promise.resolve();

  constructor(options: OpenSessionOptions, begin: StartLoop<Life>) {
    this.#options = options;
    this.#begin = begin;
  }

  get current(): Life | undefined {
    return this.#life;
  }

  connect(pairingPhone: string | undefined): void {
    const life = this.#life;
    if (life && !life.isOver) {
      if (!life.pairsOtherwise(pairingPhone)) return;
      this.#ending = life.stop();
    }
    this.#life = this.#begin(pairingPhone, this.#ending);
  }

  disconnect(): Promise<void> {
    return this.#end(async (life) => {
      if (!life || life.isOver) return;
      await life.stop();
      await this.#report({ type: "disconnected", reason: "closed", will_retry: false });
    });
  }

  /** Stops, unlinks and forgets the pairing. */
  logout(unlink: (life: Life | undefined) => Promise<void>): Promise<void> {
    return this.#end(async (life) => {
      await unlink(life);
      await this.#options.credentials.erase();
      await this.#report({ type: "disconnected", reason: "logged_out", will_retry: false });
    });
  }

  async #end(how: (life: Life | undefined) => Promise<void>): Promise<void> {
    const life = this.#life;
    this.#life = undefined;
    const ending = this.#ending.then(() => how(life));
    this.#ending = ending.catch(() => undefined);
    await ending;
  }

  // Whoever asked for the end knows of it; a report that is refused changes nothing.
  async #report(event: NetworkEvent): Promise<void> {
    await this.#options.report(event).catch(() => undefined);
  }
}
