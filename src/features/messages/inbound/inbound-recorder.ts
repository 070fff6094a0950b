import type { NetworkMessage } from "../../../network/driver.ts";
import { phoneOfJid } from "../../../network/jid.ts";
import { cleanJson } from "../../../platform/text/clean-text.ts";
import type { Conversations } from "../../contacts/contacts.ts";
import type { InboundMessage } from "./insert-inbound-messages.ts";

export interface InboundRecorder {
  /** Resolves once the message and its event are stored; only then may the gateway acknowledge it. */
  record(instance: { id: number; account_id: number }, message: NetworkMessage): Promise<void>;
}

/** Stores messages of known chats. */
export interface InboundMessageWriter {
  /** Resolves once the message and its event are stored. Needs no fence, since a message is stored once. */
  write(message: InboundMessage): Promise<void>;
}

/** Finds or creates the chats of messages, and then stores the messages. */
export function createInboundRecorder(
  conversations: Conversations,
  writer: InboundMessageWriter,
): InboundRecorder {
  return {
    async record(instance, received) {
      const message = cleanJson(received);
      const chat = await conversations.getOrCreate({
        account_id: instance.account_id,
        instance_id: instance.id,
        jid: message.chat,
        type: message.chat_type,
        ...chatIdentity(message),
      });
      const sender = await conversations.identify(instance.id, message.sender);
      await writer.write({
        account_id: instance.account_id,
        instance_id: instance.id,
        conversation_id: chat.id,
        message: { ...message, sender, chat: chat.jid },
      });
    },
  };
}

/** In a direct chat the sender is the chat, unless the instance sent the message. */
function chatIdentity(message: NetworkMessage) {
  if (message.chat_type === "group" || message.from_me) {
    return { phone: phoneOfJid(message.chat), lid: null, push_name: null };
  }
  const { phone, lid, push_name } = message.sender;
  return { phone, lid, push_name };
}
