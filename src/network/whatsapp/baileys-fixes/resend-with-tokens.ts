// Baileys 7.0.0-rc14 sends a message again without the tokens and the number that the first send carried.
// Not reported upstream; zapo corrected the same (https://github.com/vinikjkkj/zapo/pull/167).
import {
  type BinaryNode,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  jidDecode,
  jidEncode,
  type proto,
  type WASocket,
} from "baileys";
import type { Jid } from "../../driver.ts";
import { isGroupJid } from "../../jid.ts";
import { detachListeners } from "../stanzas/detach-listeners.ts";
import { plainJid } from "../stanzas/plain-jid.ts";
import { withMeta } from "../stanzas/with-meta.ts";

type RelayOptions = Parameters<WASocket["relayMessage"]>[2];

/** How the account knows its people. */
interface KnownIdentities {
  isMe(address: string | null | undefined): boolean;
  chatOf(address: string): Promise<Jid | undefined>;
  addressOf(chat: Jid): Promise<Jid>;
}

export interface ResendWithTokensOptions {
  sock: WASocket;
  identities: KnownIdentities;
  /** A sent message that Baileys does not remember. */
  find(key: { remoteJid: string; id: string }): Promise<proto.IMessage | undefined>;
  /** What a message to this person carries; the token too if only one device gets it. */
  introduce(to: Jid, isForDevice: boolean): Promise<Partial<RelayOptions>>;
  /** How often each device has got a message again. */
  counts: { get(key: string): number | undefined; set(key: string, count: number): void };
  /** So many messages that a request names are ignored. */
  onIgnored(messages: number): void;
}

const RECEIPT = "CB:receipt";
/** As often as Baileys would. */
const MOST_RESENDS = 5;
/** A device asks for one message at a time; each costs a look-up in the log. */
const MOST_REQUESTED = 32;

/**
 * Lets Baileys prepare the Signal session of a device that could not decrypt a direct message, and then sends the message
 * in its place. Resends to groups stay with Baileys.
 */
export function resendWithTokens(options: ResendWithTokensOptions): void {
  const { ws, messageRetryManager } = options.sock;
  const recent = messageRetryManager?.getRecentMessage.bind(messageRetryManager);
  if (messageRetryManager && recent) {
    messageRetryManager.getRecentMessage = (to, id) => (isGroupJid(to) ? recent(to, id) : undefined);
  }
  const handles = detachListeners(ws, RECEIPT);
  ws.on(RECEIPT, async (node: BinaryNode) => {
    const { offline: _, ...attrs } = node.attrs;
    const request = attrs.type === "retry" ? limitRequest(node, options) : node;
    const isDirectRetry = attrs.type === "retry" && attrs.participant === undefined;
    const handled = isDirectRetry ? { ...request, attrs } : request;
    for (const handle of handles) await handle(handled);
    if (isDirectRetry) await resendAll(handled, options, (to, id) => recent?.(to, id)?.message);
  });
}

/** The request with the first messages that it names. Baileys looks for them in the first child, whatever its tag. */
function limitRequest(node: BinaryNode, { onIgnored }: ResendWithTokensOptions): BinaryNode {
  if (!Array.isArray(node.content)) return node;
  const content = node.content.map((child) => {
    const ignored = getBinaryNodeChildren(child, "item").length + 1 - MOST_REQUESTED;
    if (ignored <= 0 || !Array.isArray(child.content)) return child;
    onIgnored(ignored);
    return { ...child, content: child.content.slice(0, MOST_REQUESTED - 1) };
  });
  return { ...node, content };
}

type Recall = (to: string, id: string) => proto.IMessage | undefined;

async function resendAll(node: BinaryNode, options: ResendWithTokensOptions, recall: Recall): Promise<void> {
  const { identities, find, counts } = options;
  const { id = "", from = "", recipient } = node.attrs;
  const isOwn = identities.isMe(from);
  const named = plainJid(isOwn ? recipient : from);
  // A message that we received is not ours to send again.
  if (!named || (!isOwn && recipient !== undefined)) return;
  const chat = await identities.addressOf((await identities.chatOf(named)) ?? named);
  const items = getBinaryNodeChildren(getBinaryNodeChild(node, "list"), "item");
  for (const one of [id, ...items.map(({ attrs }) => attrs.id ?? "")]) {
    const count = counts.get(`${one} ${from}`) ?? 0;
    if (count >= MOST_RESENDS) continue;
    counts.set(`${one} ${from}`, count + 1);
    const message = recall(chat, one) ?? (await find({ remoteJid: chat, id: one }));
    if (message) await resend(node, options, { chat, id: one, message, isOwn });
  }
}

/** To the device that asked, or to all devices if it was the phone. */
async function resend(
  { attrs: { from = "" }, ...node }: BinaryNode,
  { sock, introduce }: ResendWithTokensOptions,
  { chat, id, message, isOwn }: { chat: Jid; id: string; message: proto.IMessage; isOwn: boolean },
): Promise<void> {
  const device = jidDecode(from)?.device ?? 0;
  const isForDevice = device > 0;
  const count = Number(getBinaryNodeChild({ attrs: {}, ...node }, "retry")?.attrs.count) || 1;
  const isNamedSo = isOwn || plainJid(from) === chat;
  const to = isForDevice
    ? { participant: { jid: isNamedSo ? from : deviceOf(chat, device), count } }
    : { useUserDevicesCache: false };
  const introduction = isOwn ? {} : await introduce(chat, isForDevice);
  await sock.relayMessage(chat, message, withMeta({ messageId: id, ...to, ...introduction }, message));
}

/** A request may name its device by the other address of its person. */
function deviceOf(person: Jid, device: number): string {
  const { user, server = "lid" } = jidDecode(person) ?? {};
  return user === undefined ? person : jidEncode(user, server, device);
}
