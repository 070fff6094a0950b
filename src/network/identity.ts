/** A chat, group or person on the network, such as `5511999990001@s.whatsapp.net`. Only `jid.ts` makes one from digits. */
export type Jid = string & { readonly brand: "Jid" };
/** The network's id of a message; chosen before the first try and the same at every try. */
export type MessageId = string & { readonly brand: "MessageId" };

/** One person or chat as the network knows it; a LID is never a phone. */
export interface Identity {
  jid: Jid;
  lid: Jid | null;
  /** Digits only; null when the network does not tell it. */
  phone: string | null;
  push_name: string | null;
}

/** Where a message stands, for an action on it. */
export interface MessageRef {
  chat: Jid;
  id: MessageId;
  from_me: boolean;
  /** The writer, in groups. */
  sender?: Jid;
}
