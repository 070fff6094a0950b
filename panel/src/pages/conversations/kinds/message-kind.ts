import type { ComponentType } from "react";
import type { useTranslations } from "use-intl";
import type { CallOptions } from "../../../../../packages/client/src/create-methods.ts";
import type { Message } from "../conversation-queries.ts";

export type Texts = ReturnType<typeof useTranslations<"conversations">>;

/** Where a message goes, and which one it quotes. */
export interface SendTarget {
  id: number;
  jid: string;
  async: true;
  /** By which the thread knows the message when an event tells of it before the response. */
  track_id: string;
  reply_to?: string;
}

/** A message to be sent; called again with the same key when a try fails. */
export interface Outgoing {
  /** What the thread shows until the gateway has the message. */
  shown: string;
  post(target: SendTarget, call: CallOptions): Promise<{ data: object }>;
}

export interface BodyProps {
  instanceId: number;
  message: Message;
}

export interface ComposeProps {
  onSend(message: Outgoing): void;
}

/** How a kind of message is shown and written: a new kind is a file here and a line in `kinds.ts`. */
export interface MessageKind {
  /** `type` of the messages, as the gateway names it. */
  types: readonly string[];
  Body: ComponentType<BodyProps>;
  /** The message in one line, for lists and quotes. */
  summarise(message: Message, t: Texts): string;
  /** Sends a message of this kind once more. */
  resend?(message: Message, instanceId: number): Promise<Outgoing["post"]> | Outgoing["post"];
  /** Writes a message of this kind. The text field needs none. */
  Compose?: ComponentType<ComposeProps>;
}
