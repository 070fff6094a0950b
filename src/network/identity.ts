/** A chat, group or person, such as `5511999990001@s.whatsapp.net`. Only `jid.ts` builds one from digits. */
export type Jid = string & { readonly brand: "Jid" };
/** The network's id of a message; chosen before the first attempt and unchanged in retries. */
export type MessageId = string & { readonly brand: "MessageId" };

/** One person or chat in the network; a LID is never a phone. */
export interface Identity {
  jid: Jid;
  lid: Jid | null;
  /** Digits only; null if the network does not provide it. */
  phone: string | null;
  push_name: string | null;
}

/** Identifies the message that an action changes. */
export interface MessageRef {
  chat: Jid;
  id: MessageId;
  from_me: boolean;
  /** In groups: the writer. */
  sender?: Jid;
}

/** Whether two identities name one person; each may know only one of the addresses. */
export function isSamePerson(
  one: Pick<Identity, "jid" | "lid" | "phone">,
  other: Pick<Identity, "jid" | "lid" | "phone">,
): boolean {
  return (
    one.jid === other.jid ||
    (one.lid !== null && (one.lid === other.lid || one.lid === other.jid)) ||
    (other.lid !== null && one.jid === other.lid) ||
    (one.phone !== null && one.phone === other.phone)
  );
}
