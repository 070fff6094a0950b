import { AsyncLocalStorage } from "node:async_hooks";
import type { WASocket } from "baileys";
import { isGroupJid } from "../../jid.ts";

type Relay = WASocket["relayMessage"];

const toPerson = new AsyncLocalStorage<true>();

/** Whether this is done for a message to a person that goes out for the first time. */
export function isDirectSend(): boolean {
  return toPerson.getStore() === true;
}

/**
 * The client library sends one message of an account after the other, each until its ratchet is durable. With the answered
 * function only those of a chat wait for each other: ratchets have an order of their own, and nothing else is shared.
 */
export function allowConcurrentSends({ authState: { keys }, relayMessage }: WASocket): Relay {
  const { transaction } = keys;
  let chat: string | undefined;
  keys.transaction = (work, key) => transaction(work, chat === undefined ? key : `send ${chat}`);
  return (to, message, options) => {
    const relay = () => relayMessage(to, message, options);
    // Its transaction is begun before it awaits anything.
    chat = to;
    const relayed = isGroupJid(to) ? relay() : toPerson.run(true, relay);
    chat = undefined;
    return relayed;
  };
}
