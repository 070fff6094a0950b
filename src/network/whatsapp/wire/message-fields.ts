import { proto } from "baileys";
import type { WireMessage } from "../baileys-fixes/keep-later-fields.ts";

/** `opened`: holds a whole message. `change`: of another message. `silent`: phones show no message. */
export type FieldUse =
  | "text"
  | "image"
  | "video"
  | "audio"
  | "document"
  | "sticker"
  | "location"
  | "contact"
  | "opened"
  | "change"
  | "silent"
  | "unsupported";

type Field = Exclude<keyof WireMessage & string, "unknownFields">;

/**
 * What the gateway does with each field of the network's `Message`. A `text` in which its sender has written nothing is
 * reported as `unsupported`.
 */
export const MESSAGE_FIELDS: Readonly<Record<Field, FieldUse>> = {
  conversation: "text",
  senderKeyDistributionMessage: "silent",
  imageMessage: "image",
  contactMessage: "contact",
  locationMessage: "location",
  extendedTextMessage: "text",
  documentMessage: "document",
  audioMessage: "audio",
  videoMessage: "video",
  call: "silent",
  chat: "unsupported",
  protocolMessage: "change",
  contactsArrayMessage: "contact",
  highlyStructuredMessage: "text",
  fastRatchetKeySenderKeyDistributionMessage: "silent",
  sendPaymentMessage: "text",
  liveLocationMessage: "location",
  requestPaymentMessage: "text",
  declinePaymentRequestMessage: "unsupported",
  cancelPaymentRequestMessage: "unsupported",
  templateMessage: "text",
  stickerMessage: "sticker",
  groupInviteMessage: "text",
  templateButtonReplyMessage: "text",
  productMessage: "text",
  deviceSentMessage: "opened",
  messageContextInfo: "silent",
  listMessage: "text",
  viewOnceMessage: "opened",
  orderMessage: "text",
  listResponseMessage: "text",
  ephemeralMessage: "opened",
  invoiceMessage: "text",
  buttonsMessage: "text",
  buttonsResponseMessage: "text",
  paymentInviteMessage: "unsupported",
  interactiveMessage: "text",
  reactionMessage: "change",
  stickerSyncRmrMessage: "silent",
  interactiveResponseMessage: "text",
  pollCreationMessage: "text",
  pollUpdateMessage: "change",
  keepInChatMessage: "change",
  documentWithCaptionMessage: "opened",
  requestPhoneNumberMessage: "unsupported",
  viewOnceMessageV2: "opened",
  encReactionMessage: "change",
  editedMessage: "opened",
  viewOnceMessageV2Extension: "opened",
  pollCreationMessageV2: "text",
  scheduledCallCreationMessage: "text",
  groupMentionedMessage: "opened",
  pinInChatMessage: "change",
  pollCreationMessageV3: "text",
  scheduledCallEditMessage: "change",
  ptvMessage: "video",
  botInvokeMessage: "opened",
  // Baileys spells it so.
  callLogMesssage: "silent",
  messageHistoryBundle: "silent",
  encCommentMessage: "change",
  bcallMessage: "text",
  lottieStickerMessage: "opened",
  eventMessage: "text",
  encEventResponseMessage: "change",
  commentMessage: "opened",
  newsletterAdminInviteMessage: "text",
  placeholderMessage: "unsupported",
  secretEncryptedMessage: "change",
  albumMessage: "silent",
  eventCoverImage: "silent",
  stickerPackMessage: "text",
  statusMentionMessage: "silent",
  pollResultSnapshotMessage: "text",
  pollCreationOptionImageMessage: "silent",
  associatedChildMessage: "opened",
  groupStatusMentionMessage: "silent",
  pollCreationMessageV4: "opened",
  statusAddYours: "opened",
  groupStatusMessage: "opened",
  richResponseMessage: "text",
  statusNotificationMessage: "silent",
  limitSharingMessage: "opened",
  botTaskMessage: "opened",
  questionMessage: "opened",
  messageHistoryNotice: "silent",
  groupStatusMessageV2: "opened",
  botForwardedMessage: "opened",
  statusQuestionAnswerMessage: "text",
  questionReplyMessage: "opened",
  questionResponseMessage: "text",
  statusQuotedMessage: "text",
  statusStickerInteractionMessage: "silent",
  pollCreationMessageV5: "text",
  newsletterFollowerInviteMessageV2: "text",
  pollResultSnapshotMessageV3: "text",
  newsletterAdminProfileMessage: "opened",
  spoilerMessage: "opened",
  pollCreationMessageV6: "text",
  conditionalRevealMessage: "unsupported",
  pollAddOptionMessage: "change",
  eventInviteMessage: "text",
  groupRootKeyShare: "silent",
  paymentReminderMessage: "text",
  splitPaymentMessage: "text",
  newsletterAdminProfileStatusMessage: "opened",
  rootSecretDistributeMessage: "silent",
  splitPaymentUpdateMessage: "change",
  musicMessage: "unsupported",
  statusLinkPreviewMetadata: "silent",
  botPlatformRegistrationSuccessMessage: "opened",
};

/** Of a file that belongs to an earlier message. `better`: phones show it in place of that one's file. */
type AssociationUse = "shown" | "better" | "silent";

const { AssociationType } = proto.MessageAssociation;

/** What the gateway does with a message that is associated with another one; `STATUS_` is of stories only. */
export const ASSOCIATIONS: Readonly<Record<keyof typeof AssociationType, AssociationUse>> = {
  UNKNOWN: "shown",
  MEDIA_ALBUM: "shown",
  BOT_PLUGIN: "shown",
  EVENT_COVER_IMAGE: "silent",
  STATUS_POLL: "shown",
  HD_VIDEO_DUAL_UPLOAD: "better",
  STATUS_EXTERNAL_RESHARE: "shown",
  MEDIA_POLL: "silent",
  STATUS_ADD_YOURS: "shown",
  STATUS_NOTIFICATION: "shown",
  HD_IMAGE_DUAL_UPLOAD: "better",
  STICKER_ANNOTATION: "silent",
  MOTION_PHOTO: "silent",
  STATUS_LINK_ACTION: "shown",
  VIEW_ALL_REPLIES: "shown",
  STATUS_ADD_YOURS_AI_IMAGINE: "shown",
  STATUS_QUESTION: "shown",
  STATUS_ADD_YOURS_DIWALI: "shown",
  STATUS_REACTION: "shown",
  HEVC_VIDEO_DUAL_UPLOAD: "silent",
};

/** The use of an opened message by its association; numbers that nobody knows yet are shown. */
export function associationUseOf({ messageContextInfo }: WireMessage): AssociationUse {
  const type = messageContextInfo?.messageAssociation?.associationType ?? AssociationType.UNKNOWN;
  return ASSOCIATIONS[AssociationType[type] as keyof typeof AssociationType] ?? "shown";
}

/** More wrappers around each other are an attack. */
const MOST_WRAPPERS = 12;

/** The message inside its wrappers; a message in too many of them stays in the rest. */
export function openMessage(message: WireMessage): WireMessage {
  let opened = message;
  for (let i = 0; i < MOST_WRAPPERS; i++) {
    const inner = innerMessage(opened);
    if (!inner) break;
    const messageContextInfo = inner.messageContextInfo ?? opened.messageContextInfo;
    opened = messageContextInfo ? { ...inner, messageContextInfo } : inner;
  }
  return opened;
}

/** Whether the message is in a wrapper of files that phones show once. */
export function isViewOnce(message: WireMessage): boolean {
  let opened: WireMessage | undefined = message;
  for (let i = 0; opened && i < MOST_WRAPPERS; i++) {
    if (VIEW_ONCE.some((field) => opened?.[field])) return true;
    opened = innerMessage(opened);
  }
  return false;
}

const VIEW_ONCE = ["viewOnceMessage", "viewOnceMessageV2", "viewOnceMessageV2Extension"] as const;

function innerMessage(message: WireMessage): WireMessage | undefined {
  for (const [field, value] of fieldsOf(message)) {
    const inner = MESSAGE_FIELDS[field] === "opened" && (value as { message?: WireMessage | null }).message;
    if (inner) return inner;
  }
  return undefined;
}

/**
 * The network's name of content that phones show and the gateway cannot read, such as `requestPhoneNumber`, or
 * `field_132` for a field that it does not know; undefined if phones show nothing.
 */
export function unreadKindOf(message: WireMessage): string | undefined {
  for (const [field, value] of fieldsOf(message)) {
    const use = MESSAGE_FIELDS[field];
    const isShown = use === "opened" ? (value as { message?: unknown }).message != null : !HIDDEN.has(use);
    if (isShown && value !== "") return field.replace(/Message(V\d+)?$/, "");
  }
  const [unknown] = message.unknownFields ?? [];
  return unknown === undefined ? undefined : `field_${unknown}`;
}

const HIDDEN: ReadonlySet<FieldUse> = new Set(["silent", "change"]);

function fieldsOf(message: WireMessage): [Field, unknown][] {
  return Object.entries(message).filter(([field, value]) => value != null && field in MESSAGE_FIELDS) as [
    Field,
    unknown,
  ][];
}
