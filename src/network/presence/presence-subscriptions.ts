import { createFixedWindow } from "../../platform/limits/fixed-window.ts";
import type { Jid, NetworkEvent, OpenSessionOptions } from "../driver.ts";
import type { OperationResult, PresenceOperations } from "../session-operations.ts";

/** Chats that one session follows at once; more look to the network like a search for people who are online. */
export const MOST_SUBSCRIPTIONS = 200;
const LIFETIME_MS = 3_600_000;
/** The writer's phone repeats that it writes more often than this. */
const TYPING_MS = 25_000;
/** Of one chat; more are not reported. */
const CHANGES_PER_MINUTE = 60;

type PresenceChange = Extract<NetworkEvent, { type: "presence_changed" }>;

export interface PresenceSubscriptionsOptions {
  report: OpenSessionOptions["report"];
  /** Asks the network, on the open connection, to report the presence of a chat. */
  request(chat: Jid): Promise<OperationResult<null>>;
}

/**
 * The chats whose presence a session reports. Each subscription ends after an hour; until then it is renewed after every
 * reconnect. The presence of other chats is not reported.
 */
export class PresenceSubscriptions {
  readonly operations: PresenceOperations = { subscribe: (chat) => this.#subscribe(chat) };
  readonly #options: PresenceSubscriptionsOptions;
  /** When each ends, in milliseconds since the epoch. */
  readonly #ends = new Map<Jid, number>();
  readonly #changes = createFixedWindow({
    limit: CHANGES_PER_MINUTE,
    windowMs: 60_000,
    maxKeys: MOST_SUBSCRIPTIONS,
  });

  constructor(options: PresenceSubscriptionsOptions) {
    this.#options = options;
  }

  /** Passes on the session's events, except the presence of chats that nobody follows. */
  readonly report = async (event: NetworkEvent): Promise<void> => {
    if (event.type === "presence_changed") return this.#reportPresence(event);
    if (isEndOfPairing(event)) this.#ends.clear();
    await this.#options.report(event);
    if (event.type === "connected") void this.#renew();
  };

  async #subscribe(chat: Jid): Promise<OperationResult<{ expires_at: Date }>> {
    const now = Date.now();
    this.#removeEnded(now);
    if (this.#ends.size >= MOST_SUBSCRIPTIONS && !this.#ends.has(chat)) return tooMany(this.#ends, now);
    const before = this.#ends.get(chat);
    const end = now + LIFETIME_MS;
    // The network may report the current presence before it responds.
    this.#ends.set(chat, end);
    const result = await this.#options.request(chat);
    if (result.outcome === "done") return { outcome: "done", value: { expires_at: new Date(end) } };
    if (before === undefined) this.#ends.delete(chat);
    else this.#ends.set(chat, before);
    return result;
  }

  async #reportPresence(event: PresenceChange): Promise<void> {
    const { chat, who, presence, at } = event;
    const followed = [chat, ...(who.jid === chat && who.lid ? [who.lid] : [])].find((one) =>
      this.#ends.has(one),
    );
    const end = (followed && this.#ends.get(followed)) ?? 0;
    const isTyping = presence === "typing" || presence === "recording";
    const expires = isTyping ? Math.min(end, at.getTime() + TYPING_MS) : end;
    if (expires <= Date.now() || this.#changes(followed ?? chat) > 0) return;
    await this.#options.report({ ...event, expires_at: new Date(expires) });
  }

  /** A subscription that cannot be renewed now is renewed after the next reconnect. */
  async #renew(): Promise<void> {
    this.#removeEnded(Date.now());
    for (const chat of [...this.#ends.keys()]) await this.#options.request(chat).catch(() => {});
  }

  #removeEnded(now: number): void {
    for (const [chat, end] of this.#ends) if (end <= now) this.#ends.delete(chat);
  }
}

function isEndOfPairing(event: NetworkEvent): boolean {
  const isLogout = event.type === "disconnected" && event.reason === "logged_out";
  return isLogout || event.type === "logged_out" || event.type === "banned";
}

function tooMany(ends: ReadonlyMap<Jid, number>, now: number): OperationResult<never> {
  return {
    outcome: "refused",
    code: "RATE_LIMITED",
    reason: `A session follows the presence of at most ${MOST_SUBSCRIPTIONS} chats at once. Wait until a subscription ends.`,
    retry_after_seconds: Math.ceil((Math.min(...ends.values()) - now) / 1000),
  };
}
