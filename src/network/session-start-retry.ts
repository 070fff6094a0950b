import type { NetworkEvent, OpenSessionOptions, SessionStartFailure } from "./driver.ts";

/** Number and pace of retries after a session start fails through a fault of the gateway. */
export interface SessionStartTiming {
  /** Limit for faults that are not known to be temporary. */
  startAttempts: number;
  /** The delay after the first attempt; it doubles with each further one ... */
  startBackoffMs: number;
  /** ... up to this. */
  startBackoffMaxMs: number;
}

export const SESSION_START_TIMING: SessionStartTiming = {
  startAttempts: 4,
  startBackoffMs: 1_000,
  startBackoffMaxMs: 30_000,
};

const TEXTS: Readonly<Record<SessionStartFailure, string>> = {
  library_failed:
    "The gateway cannot load Baileys, its WhatsApp library. Its log and `waygate doctor` show the cause to the operator.",
  credentials_unreadable:
    "The gateway cannot read the stored credentials of this instance. The operator can restore WAYGATE_SECRET_KEY; otherwise log the instance out and pair it again.",
  session_failed:
    "The gateway cannot start the session of this instance. Its log shows the cause to the operator.",
};
const PASSING = "The gateway cannot reach its database, or its machine is short of resources.";

/** Errors of a machine that is temporarily out of resources. */
const SHORTAGES = new Set(["EMFILE", "ENFILE", "ENOMEM", "ENOBUFS", "EAGAIN"]);

export interface SessionStartRetryOptions
  extends Pick<OpenSessionOptions, "report" | "isTransientError" | "instance_id"> {
  timing: SessionStartTiming;
  log: { warn(fields: object, message: string): void } | undefined;
  /** Repeats the report until it is stored. */
  reportDurably(event: NetworkEvent): Promise<void>;
}

/** Counts consecutive failed starts through faults of the gateway, and decides the next step. */
export class SessionStartRetry {
  readonly #options: SessionStartRetryOptions;
  #count = 0;

  constructor(options: SessionStartRetryOptions) {
    this.#options = options;
  }

  /** A start has succeeded. */
  reset(): void {
    this.#count = 0;
  }

  /** Reports from the first attempt on. Retries temporary faults without a limit, others a few times. */
  async onFailure(fault: SessionStartFailure, error: unknown): Promise<{ waitMs: number } | "end"> {
    const { log, instance_id, report, reportDurably, timing } = this.#options;
    this.#count++;
    const isPassing = this.#mayPass(error);
    const isLast = !isPassing && this.#count >= timing.startAttempts;
    const waitMs = isLast ? undefined : this.#waitMs();
    log?.warn({ err: error, instance_id, reason: fault, wait_ms: waitMs }, "a session could not be started");
    if (waitMs === undefined) {
      await reportDurably(eventOf(fault, TEXTS[fault], false));
      return "end";
    }
    const event = isPassing
      ? eventOf("session_failed", `${PASSING} Try ${this.#count}.`, true)
      : eventOf(fault, `${TEXTS[fault]} Try ${this.#count} of ${timing.startAttempts}.`, true);
    // Not repeated: the next failure reports it again.
    await report(event).catch(() => {});
    return { waitMs };
  }

  #mayPass(error: unknown): boolean {
    return this.#options.isTransientError?.(error) === true || isShortage(error);
  }

  /**
   * Random between half of the limit and the limit, so that the sessions of a node do not retry all at once.
   */
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
