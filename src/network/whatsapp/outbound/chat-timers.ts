import type { GroupMetadata } from "baileys";
import type { Jid, OpenSessionOptions } from "../../driver.ts";
import { isGroupJid } from "../../jid.ts";
import type { BaileysCredentials } from "../keys/baileys-credentials.ts";
import type { TimerStore } from "../keys/timer-store.ts";
import { type ChatTimer, toTimer } from "../stanzas/chat-timer.ts";

export interface ChatTimersOptions extends Pick<OpenSessionOptions, "isNewChat"> {
  store: TimerStore;
  creds: BaileysCredentials;
  groupOf(group: string): Promise<GroupMetadata>;
}

const NO_TIMER: ChatTimer = { expiration: 0 };

/** The timer for messages that go out now. */
export class ChatTimers {
  readonly #options: ChatTimersOptions;

  constructor(options: ChatTimersOptions) {
    this.#options = options;
  }

  /** Undefined if messages stay in the chat. */
  async find(chat: Jid): Promise<ChatTimer | undefined> {
    if (isGroupJid(chat)) return this.#ofGroup(chat);
    const timer = (await this.#options.store.find(chat)) ?? (await this.#ofNewChat(chat));
    return timer && timer.expiration > 0 ? timer : undefined;
  }

  /** The group states how long messages stay; its messages also state since when. */
  async #ofGroup(group: Jid): Promise<ChatTimer | undefined> {
    const { store, groupOf } = this.#options;
    // If the group is not accessible, the network rejects the message itself.
    const metadata = await groupOf(group).catch(() => undefined);
    const expiration = metadata?.ephemeralDuration;
    if (!expiration) return undefined;
    const stored = await store.find(group);
    return stored?.expiration === expiration ? stored : { expiration };
  }

  /** The account's default, which applies to chats that begin with a message of ours. */
  async #ofNewChat(chat: Jid): Promise<ChatTimer | undefined> {
    const { store, creds, isNewChat } = this.#options;
    const { defaultDisappearingMode } = creds.accountSettings;
    if (!defaultDisappearingMode?.ephemeralExpiration || !isNewChat) return undefined;
    const { ephemeralExpiration, ephemeralSettingTimestamp } = defaultDisappearingMode;
    const stated = toTimer(ephemeralExpiration, ephemeralSettingTimestamp);
    const timer = stated && (await isNewChat(chat)) ? { ...stated, is_default: true } : NO_TIMER;
    await store.learn(chat, timer);
    return timer;
  }
}
