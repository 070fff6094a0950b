import type { ComponentType } from "react";
import type { useTranslations } from "use-intl";
import type { CallOptions } from "../../../../../packages/client/src/create-methods.ts";
import type { Message } from "../conversation-queries.ts";

export type Texts = ReturnType<typeof useTranslations<"conversations">>;

export interface SendTarget {
  id: number;
  jid: string;
  async: true;
  /** Lets the thread match an event that arrives before the response. */
  track_id: string;
  reply_to?: string;
}

/** A message to send. A retry calls `post` with the same key. */
export interface Outgoing {
  /** Shown until the gateway has stored the message. */
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

/** How a kind of message is shown and written. A new kind is one file and one line in `kinds.ts`. */
export interface MessageKind {
  /** Values of `type` in the API. */
  types: readonly string[];
  Body: ComponentType<BodyProps>;
  /** The message as one line, for lists and quotes. */
  summarise(message: Message, t: Texts): string;
  resend?(message: Message, instanceId: number): Promise<Outgoing["post"]> | Outgoing["post"];
  /** The form that writes such a message; absent for text. */
  Compose?: ComponentType<ComposeProps>;
}
