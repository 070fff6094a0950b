import type { NetworkMessage, PollVote } from "../../../network/driver.ts";
import { phoneOfJid } from "../../../network/jid.ts";
import type { SecretBox } from "../../../platform/secrets/secret-box.ts";
import { cleanFromNetwork } from "../../../platform/text/clean-text.ts";
import type { TraceParent } from "../../../platform/tracing/trace-parent.ts";
import {
  errorTypeOf,
  failSpan,
  type Span,
  SpanKind,
  startSpan,
  traceParentOf,
  tracingMode,
} from "../../../platform/tracing/tracing.ts";
import type { Conversations } from "../../contacts/contacts.ts";
import { sealForMessage } from "../log/seal-for-message.ts";
import type { InboundMessage } from "./insert-inbound-messages.ts";

export interface InboundRecorder<Change> {
  /**
   * Resolves once the messages, their events and the change of their session are stored; only then may the gateway
   * acknowledge them. False: nothing was stored, because the session has another owner.
   */
  record(
    instance: { id: number; account_id: number },
    messages: readonly NetworkMessage[],
    change?: Change,
  ): Promise<boolean>;
}

/** Messages of one instance, and a change of its session that commits together with them. */
export interface InboundWrite<Change> {
  instance_id: number;
  messages: readonly InboundMessage[];
  change?: Change | undefined;
}

/** Stores messages of known chats. */
export interface InboundWriter<Change> {
  /** Like `record`. Messages need no fence, since each is stored once. */
  write(inbound: InboundWrite<Change>): Promise<boolean>;
}

/** Finds or creates the chats of messages, and then stores the messages. */
export function createInboundRecorder<Change>(
  conversations: Conversations,
  box: SecretBox,
  writer: InboundWriter<Change>,
): InboundRecorder<Change> {
  return {
    async record({ id: instance_id, account_id }, received, change) {
      if (received.length === 0 && change === undefined) return true;
      return inReceivingSpans(instance_id, received, async (traces) => {
        const messages = await Promise.all(
          received.map(({ secret, raw, ...one }, nth) => {
            const sealed = {
              secret: sealForMessage(box, "secret", instance_id, one.id, secret),
              raw: sealForMessage(box, "raw", instance_id, one.id, raw),
            };
            const owner = { instance_id, account_id, trace: traces[nth], ...sealed };
            return placeInChat(conversations, owner, cleanFromNetwork(one));
          }),
        );
        return writer.write({ instance_id, messages, change });
      });
    },
  };
}

async function placeInChat(
  conversations: Conversations,
  { trace, secret, raw, ...owner }: Omit<InboundMessage, "conversation_id" | "message">,
  message: NetworkMessage,
): Promise<InboundMessage> {
  const chat = await conversations.getOrCreate({
    ...owner,
    jid: message.chat,
    type: message.chat_type,
    ...chatIdentity(message),
  });
  const sender = await conversations.identify(owner.instance_id, message.sender);
  const votes = await identifyVoters(conversations, owner.instance_id, message);
  return {
    ...owner,
    trace,
    secret,
    raw,
    conversation_id: chat.id,
    message: { ...message, ...votes, sender, chat: chat.jid },
  };
}

async function identifyVoters(
  conversations: Conversations,
  instanceId: number,
  { votes }: NetworkMessage,
): Promise<Pick<NetworkMessage, "votes">> {
  if (!votes) return {};
  const identify = async (vote: PollVote) => ({
    ...vote,
    by: await conversations.identify(instanceId, vote.by),
  });
  return { votes: await Promise.all(votes.map(identify)) };
}

/** In a direct chat the sender is the chat, unless the instance sent the message. */
function chatIdentity(message: NetworkMessage) {
  if (message.chat_type === "group" || message.from_me) {
    return { phone: phoneOfJid(message.chat), lid: null, push_name: null };
  }
  const { phone, lid, push_name } = message.sender;
  return { phone, lid, push_name };
}

/** Stores messages, each in a span that its event continues. Messages of a history sync cause no event and no span. */
async function inReceivingSpans<T>(
  instanceId: number,
  messages: readonly NetworkMessage[],
  store: (traces: (TraceParent | undefined)[]) => Promise<T>,
): Promise<T> {
  if (tracingMode() === "off") return store([]);
  const spans = messages.map((message) => (message.history ? undefined : startReceivingSpan(instanceId)));
  try {
    return await store(spans.map(traceParentOf));
  } catch (error) {
    for (const span of spans) failSpan(span, errorTypeOf(error));
    throw error;
  } finally {
    for (const span of spans) span?.end();
  }
}

/** The message's id is no attribute: its sender chose it. */
function startReceivingSpan(instanceId: number): Span | undefined {
  return startSpan("receive message", {
    kind: SpanKind.CONSUMER,
    attributes: { "messaging.operation.type": "receive", "waygate.instance.id": instanceId },
  });
}
