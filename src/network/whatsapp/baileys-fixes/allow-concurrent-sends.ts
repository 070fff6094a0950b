// Baileys 7.0.0-rc14 sends an account's messages sequentially, each until its Signal session state is durable.
// Not reported upstream; https://github.com/WhiskeySockets/Baileys/pull/2811 (open) would put all transactions under one lock.
import { AsyncLocalStorage } from "node:async_hooks";
import type { WASocket } from "baileys";
import { isGroupJid } from "../../jid.ts";

type Relay = WASocket["relayMessage"];

/** A send of a message to a person that is not a repetition for one device. */
interface DirectSend {
  to: string;
  /** Whether the message is encrypted for a device of somebody else. */
  hasRecipient: boolean;
}

const toPerson = new AsyncLocalStorage<DirectSend>();

/** The send to a person to which the current work belongs. */
export function currentDirectSend(): DirectSend | undefined {
  return toPerson.getStore();
}

/** The returned function serialises only the sends of one chat: the Signal session state has its own order. */
export function allowConcurrentSends({ authState: { keys }, relayMessage }: WASocket): Relay {
  const { transaction } = keys;
  let chat: string | undefined;
  keys.transaction = (work, key) => transaction(work, chat === undefined ? key : `send ${chat}`);
  return (to, message, options) => {
    const relay = () => relayMessage(to, message, options);
    // Baileys begins its transaction before it awaits anything.
    chat = to;
    const relayed = isGroupJid(to) ? relay() : toPerson.run({ to, hasRecipient: false }, relay);
    chat = undefined;
    return relayed;
  };
}
