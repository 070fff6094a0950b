import { type BinaryNode, type ChatModification, getBinaryNodeChild, type WASocket } from "baileys";
import type { Jid, MessageRef, Session } from "../../driver.ts";
import { isGroupJid } from "../../jid.ts";
import type {
  ChatOperations,
  ChatState,
  OperationResult,
  OwnProfile,
  ProfileOperations,
} from "../../session-operations.ts";
import { toMuteTime } from "../wire/mute-time.ts";
import { archivedKey } from "../wire/read-chat.ts";
import { createBusinessOperations } from "./business-operations.ts";
import { changeAppState } from "./change-app-state.ts";
import { aboutOf, businessOf, createContactOperations, pictureOf } from "./contact-operations.ts";
import { createGroupOperations } from "./group-operations.ts";
import { createLabelOperations } from "./label-operations.ts";
import type { OperationContext } from "./operation-context.ts";
import { toOperationError } from "./operation-error.ts";
import { PendingOperations } from "./pending-operations.ts";
import { setProfilePicture } from "./set-profile-picture.ts";

type Last = MessageRef & { at: Date };

/** WhatsApp Web's mutation `WAWebMexUpdateTextStatusJob`. */
const UPDATE_TEXT_STATUS = "9152604461510864";

interface MexResponse {
  data?: { xwa2_update_text_status?: object | null } | null;
  errors?: { message?: string; extensions?: { error_code?: number } }[];
}

/** The operations of a session, except messages. */
export type ConnectionOperations = Required<
  Pick<Session, "contacts" | "chats" | "labels" | "profile" | "business" | "groups" | "rejectCall">
> & {
  /** Asks the network to report the presence of a chat; no response follows. */
  requestPresence(chat: Jid): Promise<OperationResult<null>>;
};

/** The operations of one connection; `endAll` runs when it ends. */
export function createConnectionOperations(
  options: Omit<OperationContext, "pending">,
): ConnectionOperations & { endAll(): void } {
  const pending = new PendingOperations();
  const context = { ...options, pending };
  return {
    contacts: createContactOperations(context),
    chats: createChatOperations(context),
    labels: createLabelOperations(context),
    profile: createProfileOperations(context),
    business: createBusinessOperations(context),
    groups: createGroupOperations(context),
    requestPresence: (chat) => pending.run(() => requestPresence(context, chat)),
    rejectCall: (call_id, from) => pending.run(() => rejectPhoneCall(context, call_id, from)),
    endAll: () => pending.rejectAll(),
  };
}

/** The network reports it only while this session shows itself online. */
async function requestPresence({ sock, identities }: OperationContext, chat: Jid): Promise<null> {
  await sock.presenceSubscribe(await identities.addressOf(chat));
  return null;
}

/** Rejects it under the address from which it rings, which may differ from the person's main address. */
async function rejectPhoneCall(
  { sock, ringingCalls }: OperationContext,
  id: string,
  from: Jid,
): Promise<null> {
  await sock.rejectCall(id, ringingCalls.get(id)?.from ?? from);
  return null;
}

function createProfileOperations(context: OperationContext): ProfileOperations {
  const { pending, sock } = context;
  return {
    get: () => pending.run(() => profileOf(context)),
    setName: (name) => pending.run(() => setName(context, name)),
    setAbout: (text) => pending.run(() => setAbout(sock, text)),
    setPicture: (image) => pending.run(() => setProfilePicture(sock, image)),
    setPrivacy: (name, value) => pending.run(() => setPrivacy(sock, name, value)),
  };
}

async function profileOf(context: OperationContext): Promise<OwnProfile> {
  const { sock, identities } = context;
  const { me } = identities;
  const [about, picture_url, business, privacy] = await Promise.all([
    aboutOf(context, me.jid),
    pictureOf(context, me.jid),
    businessOf(sock, me.jid),
    sock.fetchPrivacySettings(true),
  ]);
  return { ...me, about, picture_url, is_business: business !== null, business, privacy };
}

async function setPrivacy(sock: WASocket, name: string, value: string): Promise<null> {
  const change = { tag: "privacy", attrs: {}, content: [{ tag: "category", attrs: { name, value } }] };
  await sock.query({
    tag: "iq",
    attrs: { to: "s.whatsapp.net", type: "set", xmlns: "privacy" },
    content: [change],
  });
  return null;
}

async function setName({ sock }: OperationContext, name: string): Promise<null> {
  await changeAppState(sock, { pushNameSetting: name }, "");
  // Our own change is not echoed; Baileys sends the name that it finds here to everyone.
  const { me } = sock.authState.creds;
  if (me) sock.ev.emit("creds.update", { me: { ...me, name } });
  return null;
}

/**
 * Sets the text below our name without an end; empty removes it. The old `status` query is confirmed and changes
 * nothing since April 2026: https://github.com/WhiskeySockets/Baileys/issues/2503 (open).
 */
async function setAbout(sock: WASocket, text: string): Promise<null> {
  const input = { text: text || null, ephemeral_duration_sec: 0 };
  const response: BinaryNode = await sock.query({
    tag: "iq",
    attrs: { to: "s.whatsapp.net", type: "get", xmlns: "w:mex" },
    content: [
      {
        tag: "query",
        attrs: { query_id: UPDATE_TEXT_STATUS },
        content: Buffer.from(JSON.stringify({ variables: { input } })),
      },
    ],
  });
  const { data, errors } = readMex(response);
  const [error] = errors ?? [];
  if (error) throw refusalOf(error);
  if (!data?.xwa2_update_text_status) throw new Error("The network returned no result of the change.");
  return null;
}

function readMex(response: BinaryNode): MexResponse {
  const content = getBinaryNodeChild(response, "result")?.content;
  return content ? (JSON.parse(content.toString()) as MexResponse) : {};
}

function refusalOf({ message = "", extensions }: NonNullable<MexResponse["errors"]>[number]): Error {
  return (
    toOperationError(Number(extensions?.error_code ?? 500), message) ??
    new Error(`The network did not change the text (${message}).`)
  );
}

function createChatOperations({ pending, sock, identities, reported }: OperationContext): ChatOperations {
  return {
    setState: (chat, change, last) =>
      pending.run(async () => {
        const address = await identities.addressOf(chat);
        for (const modification of modificationsOf(change, address, last)) {
          await changeAppState(sock, modification, address);
        }
        if (change.archived !== undefined) reported.set(archivedKey(chat), String(change.archived));
        return null;
      }),
  };
}

function modificationsOf(change: ChatState, address: Jid, last: Last | undefined): ChatModification[] {
  const { archived, pinned, muted_until, unread } = change;
  const lastMessages = rangeOf(address, last);
  return [
    ...(archived === undefined ? [] : [{ archive: archived, lastMessages }]),
    ...(pinned === undefined ? [] : [{ pin: pinned }]),
    ...(muted_until === undefined ? [] : [{ mute: toMuteTime(muted_until) }]),
    ...(unread === undefined ? [] : [{ markRead: !unread, lastMessages }]),
  ];
}

/**
 * The last message to which the change applies. For groups only its time, because their writers have two
 * addresses.
 */
function rangeOf(address: Jid, last: Last | undefined) {
  if (!last) return [];
  const messageTimestamp = Math.floor(last.at.getTime() / 1000);
  if (isGroupJid(address)) return { lastMessageTimestamp: messageTimestamp };
  return [{ key: { remoteJid: address, id: last.id, fromMe: last.from_me }, messageTimestamp }];
}
