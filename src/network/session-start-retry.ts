import type { NetworkEvent, OpenSessionOptions, SessionStartFailure } from "./driver.ts";

/** How often, and how slowly, a session is started again that could not be started through a fault of ours. */
export interface SessionStartTiming {
  /** Where nothing says that the fault passes. */
  startTries: number;
  /** The wait after the first try; it doubles with each further one ... */
  startBackoffMs: number;
  /** ... up to this. */
  startBackoffMaxMs: number;
}

export const SESSION_START_TIMING: SessionStartTiming = {
  startTries: 4,
  startBackoffMs: 1_000,
  startBackoffMaxMs: 30_000,
};

const WORDS: Readonly<Record<SessionStartFailure, string>> = {
  library_failed:
    "The gateway cannot load its WhatsApp library. Its operator finds the cause in the log and with `waygate doctor`.",
  credentials_unreadable:
    "The gateway cannot read the stored credentials of this instance. Its operator can restore WAYGATE_SECRET_KEY; otherwise log the instance out and pair it again.",
  session_failed:
    "The gateway cannot start the session of this instance. Its operator finds the cause in the log.",
};
const PASSING = "The gateway cannot reach its database, or its machine is short of resources.";

/** The machine has nothing left for now. */
const SHORTAGES = new Set(["EMFILE", "ENFILE", "ENOMEM", "ENOBUFS", "EAGAIN"]);

export interface SessionStartRetryOptions
  extends Pick<OpenSessionOptions, "report" | "mayPass" | "instance_id"> {
  timing: SessionStartTiming;
  log: { warn(fields: object, message: string): void } | undefined;
  /** Reports until it is stored. */
  tell(event: NetworkEvent): Promise<void>;
}

/** Counts the starts of a session that failed in a row through a fault of ours, and decides what follows. */
export class SessionStartRetry {
  readonly #options: SessionStartRetryOptions;
  #count = 0;

  constructor(options: SessionStartRetryOptions) {
    this.#options = options;
  }

  /** A start has succeeded. */
  clear(): void {
    this.#count = 0;
  }

  /** The user sees it from the first try on. What passes by itself is tried for ever, anything else a few times. */
  async follow(fault: SessionStartFailure, error: unknown): Promise<{ waitMs: number } | "end"> {
    const { log, instance_id, report, tell, timing } = this.#options;
    this.#count++;
    const isPassing = this.#mayPass(error);
    const isLast = !isPassing && this.#count >= timing.startTries;
    const waitMs = isLast ? undefined : this.#waitMs();
    log?.warn({ err: error, instance_id, reason: fault, wait_ms: waitMs }, "a session could not be started");
    if (waitMs === undefined) {
      await tell(eventOf(fault, WORDS[fault], false));
      return "end";
    }
    const event = isPassing
      ? eventOf("session_failed", `${PASSING} Try ${this.#count}.`, true)
      : eventOf(fault, `${WORDS[fault]} Try ${this.#count} of ${timing.startTries}.`, true);
    // Not repeated: the next failure reports it again.
    await report(event).catch(() => {});
    return { waitMs };
  }

  #mayPass(error: unknown): boolean {
    return this.#options.mayPass?.(error) === true || isShortage(error);
  }

  /** At random between half of the limit and the limit, so that the sessions of a node do not come all at once. */
  #waitMs(): number {
    const { startBackoffMs, startBackoffMaxMs } = this.#options.timing;
    const limitMs = Math.min(startBackoffMaxMs, startBackoffMs * 2 ** (this.#count - 1));
    return limitMs * (0.5 + Math.random() / 2);
  }
}

function eventOf(reason: SessionStartFailure, detail: string, will_retry: boolean): NetworkEvent {
  return { type: "disconnected", reason, will_retry, detail };
}

function isShortage(error: unknown): boolean {
  return error instanceof Error && "code" in error && SHORTAGES.has(String(error.code));
}
