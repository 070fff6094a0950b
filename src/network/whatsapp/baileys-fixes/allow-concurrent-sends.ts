// Baileys 7.0.0-rc14 sends an account's messages sequentially, each until its Signal session state is durable.
// Not reported upstream; https://github.com/WhiskeySockets/Baileys/pull/2811 (open) would put all transactions under one lock.
import { AsyncLocalStorage } from "node:async_hooks";
import type { WASocket } from "baileys";
import { isGroupJid } from "../../jid.ts";

type Relay = WASocket["relayMessage"];

const toPerson = new AsyncLocalStorage<true>();

/** Whether the current send is the first one of a message to a person. */
export function isDirectSend(): boolean {
  return toPerson.getStore() === true;
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
    const relayed = isGroupJid(to) ? relay() : toPerson.run(true, relay);
    chat = undefined;
    return relayed;
  };
}
