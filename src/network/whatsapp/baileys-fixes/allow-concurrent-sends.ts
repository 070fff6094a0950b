// Baileys 7.0.0-rc14 sends an account's messages sequentially, each until its Signal session state is durable.
// Not reported upstream; https://github.com/WhiskeySockets/Baileys/pull/2811 (open) would put all transactions under one lock.
// It also refuses a group message if it can give its key to none of the devices that lack it, though others have it; the rest
// of https://github.com/WhiskeySockets/Baileys/pull/2226.
import { AsyncLocalStorage } from "node:async_hooks";
import type { WASocket } from "baileys";
import { isGroupJid } from "../../jid.ts";
import { STORIES } from "../stanzas/stanza.ts";

type Relay = WASocket["relayMessage"];

/** A send of a message that is not a repetition for one device. */
interface CurrentSend {
  to: string;
  isGroup: boolean;
  /** Whether a device of somebody else can read the message. */
  hasRecipient: boolean;
  /** Whether it could not be encrypted for a device of somebody else. */
  hasFailed: boolean;
  /** Devices for which it could not be encrypted, ours included. */
  readonly unreached: Set<string>;
}

/** The message cannot be encrypted for any device of somebody else, so that nobody could read it. */
export class NobodyReachedError extends Error {
  override readonly name = "NobodyReachedError";
}

const sends = new AsyncLocalStorage<CurrentSend>();

/** The send to which the current work belongs. */
export function currentSend(): CurrentSend | undefined {
  return sends.getStore();
}

/** The returned function serialises only the sends of one chat: the Signal session state has its own order. */
export function allowConcurrentSends({ authState: { keys }, relayMessage }: WASocket): Relay {
  const { transaction } = keys;
  let chat: string | undefined;
  keys.transaction = (work, key) => transaction(work, chat === undefined ? key : `send ${chat}`);
  return async (to, message, options) => {
    const send = {
      to,
      isGroup: isGroupJid(to) || to === STORIES,
      hasRecipient: false,
      hasFailed: false,
      unreached: new Set<string>(),
    };
    const relay = () => {
      // Baileys begins its transaction before it awaits anything.
      chat = to;
      const relayed = sends.run(send, () => relayMessage(to, message, options));
      chat = undefined;
      return relayed;
    };
    try {
      return await relay().catch((error) => {
        // The second time, the devices without a session count as holders of the group's key.
        if (send.isGroup && send.hasRecipient && isNoneEncrypted(error)) return relay();
        throw error;
      });
    } catch (error) {
      throw reachesNobody(send) ? new NobodyReachedError() : error;
    }
  };
}

function isNoneEncrypted(error: unknown): boolean {
  return error instanceof Error && error.message === "All encryptions failed";
}

/** Whether a message to a group would be encrypted for own devices only. */
export function reachesNobody({ isGroup, hasFailed, hasRecipient }: CurrentSend): boolean {
  return isGroup && hasFailed && !hasRecipient;
}
