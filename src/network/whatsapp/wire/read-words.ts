import type { proto } from "baileys";
import { toPollMessage } from "../../content/poll.ts";
import type { TextContent } from "../../driver.ts";
import type { WireMessage } from "../baileys-fixes/keep-later-fields.ts";
import { readPoll } from "./poll/read-poll.ts";

type Texts = readonly (string | null | undefined)[];

/** Polls, orders, payments, invitations and other content as the words that its sender has written. */
export function readWords(message: WireMessage): TextContent | undefined {
  const poll = readPoll(message);
  if (poll) return poll.question || poll.options.length > 0 ? toPollMessage(poll) : undefined;
  const parts = textsOfResults(message) ?? textsOfBusiness(message) ?? textsOf(message);
  const text = parts.filter((part) => part).join("\n");
  return text ? { kind: "text", text } : undefined;
}

function textsOfResults(message: WireMessage): Texts | undefined {
  const poll = message.pollResultSnapshotMessage ?? message.pollResultSnapshotMessageV3;
  if (!poll) return undefined;
  const counts = poll.pollVotes ?? [];
  return [
    poll.name,
    ...counts.map(({ optionName, optionVoteCount }) => `${optionName}: ${optionVoteCount ?? 0}`),
  ];
}

function textsOfBusiness({
  orderMessage: order,
  productMessage: product,
  eventMessage: event,
}: WireMessage): Texts | undefined {
  if (order) return [order.orderTitle, order.message];
  if (product)
    return [product.product?.title ?? product.catalog?.title, product.product?.description, product.body];
  if (!event) return undefined;
  return [event.name, event.description, event.location?.name, event.joinLink];
}

/** At most one of them is there. */
function textsOf(message: WireMessage): Texts {
  const { newsletterAdminInviteMessage: admin, newsletterFollowerInviteMessageV2: follower } = message;
  return [
    noteOf(message.sendPaymentMessage?.noteMessage),
    noteOf(message.requestPaymentMessage?.noteMessage),
    message.invoiceMessage?.note,
    message.scheduledCallCreationMessage?.title,
    message.bcallMessage?.caption,
    admin?.caption || admin?.newsletterName,
    follower?.caption || follower?.newsletterName,
    message.stickerPackMessage?.caption || message.stickerPackMessage?.name,
    message.statusQuestionAnswerMessage?.text,
    message.questionResponseMessage?.text,
    message.statusQuotedMessage?.text,
    ...(message.richResponseMessage?.submessages ?? []).map(({ messageText }) => messageText),
    message.eventInviteMessage?.words,
    message.paymentReminderMessage?.words,
    message.splitPaymentMessage?.words,
  ];
}

function noteOf(note: proto.IMessage | null | undefined): string | null | undefined {
  return note?.conversation || note?.extendedTextMessage?.text;
}
