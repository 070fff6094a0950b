import type { InboundContent } from "./content.ts";
import type { Identity, Jid, MessageId } from "./identity.ts";

export interface NetworkMessage {
  id: MessageId;
  chat: Jid;
  chat_type: "contact" | "group";
  from_me: boolean;
  sender: Identity;
  content: InboundContent;
  /** 32 bytes in base64, under which later changes of the message are encrypted. */
  secret?: string;
  /** Of an unsupported message: its bytes in base64, for a later version of the driver. */
  raw?: string;
  at: Date;
  /** Its content is that of an edit that arrived before it. */
  edited_at?: Date;
  /** Its deletion arrived before it: stored in the log, not delivered. */
  deleted_at?: Date;
  /** Votes on its poll that arrived before it. */
  votes?: PollVote[];
  /** Waited in the network's queue while the session was offline. */
  offline?: boolean;
  /** From before the pairing: stored in the log, not delivered. */
  history?: boolean;
}

/** A person's choice in a poll, which replaces their earlier one. */
export interface PollVote {
  by: Identity;
  /** Ids of the chosen options, also of those that nobody has added yet; empty: the vote is withdrawn. */
  options: string[];
  /** By the voter's clock. */
  at: Date;
}

/** A message that an earlier version of the driver could not read. */
export type UnsupportedMessage = Pick<
  NetworkMessage,
  "id" | "chat" | "chat_type" | "from_me" | "sender" | "at"
> &
  Required<Pick<NetworkMessage, "raw">>;

/** Could not be decrypted yet. It never replaces a message; the decrypted message replaces it. */
export function isUndecrypted({ content }: Pick<NetworkMessage, "content">): boolean {
  return content.kind === "unsupported" && content.reason === "undecryptable";
}
