import { createCipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import { proto } from "baileys";
import type { SecretChange, SecretChangeOptions } from "../control.ts";
import type { Network } from "../network.ts";
import { addressOf, keyOf, toSendOptions } from "./phone-actions.ts";
import { sendToDevices } from "./send-to-devices.ts";

const { MESSAGE_EDIT } = proto.Message.ProtocolMessage.Type;
const { SecretEncType } = proto.Message.SecretEncryptedMessage;
/** Values that Baileys' proto does not contain. */
const POLL_EDIT = 4;
const POLL_ADD_OPTION = 5;

const USES: Readonly<Record<number, string>> = {
  [SecretEncType.EVENT_EDIT]: "Event Edit",
  [SecretEncType.MESSAGE_EDIT]: "Message Edit",
  [POLL_EDIT]: "Poll Edit",
  [POLL_ADD_OPTION]: "Poll Add Option",
};

/** Changes or comments on a message, encrypted with its secret. Returns the id of the change. */
export async function sendEncryptedChange(
  network: Network,
  { by, to, id }: { by: string; to: string; id: string },
  change: SecretChange,
  options: SecretChangeOptions,
): Promise<string> {
  const { handset } = network.person(by);
  const address = addressOf(network, to, options);
  const stored = handset.kept(id);
  const secret = options.secret ?? stored?.message.messageContextInfo?.messageSecret;
  if (!secret) throw new Error(`${by} has no secret of ${id}`);
  const writer = options.writer ? network.person(options.writer) : (stored?.from ?? handset.person);
  const usual = address.kind === "group" ? address.group.addressing : address.addressing;
  const targetMessageKey = keyOf(network, by, address, id);
  const said = contentOf(change, targetMessageKey, options.at ?? Date.now());
  const author = writer.jid(options.author ?? usual);
  const sender = handset.person.jid(options.sender ?? usual);
  const key = hkdfSync("sha256", secret, "", id + author + sender + said.use, 32);
  const additional = change.kind === "vote" ? `${id}\0${sender}` : undefined;
  const sealed = { targetMessageKey, ...encrypt(new Uint8Array(key), said.plaintext, additional) };
  const attrs = "type" in said ? { edit: "1" } : undefined;
  const wrapped = wrap(change, sealed, said.type, options.at ?? Date.now());
  return sendToDevices(network, handset, address, wrapped, toSendOptions(network, options, attrs));
}

interface Said {
  use: string;
  plaintext: Uint8Array;
  type?: number;
}

function contentOf(change: SecretChange, key: proto.IMessageKey, at: number): Said {
  const encode = (message: proto.IMessage) =>
    proto.Message.encode(proto.Message.fromObject(message)).finish();
  const edit = (type: number, plaintext: Uint8Array) => ({ use: USES[type] ?? "", plaintext, type });
  switch (change.kind) {
    case "reaction": {
      const reaction = { text: change.reaction, senderTimestampMs: at };
      return { use: "Enc Reaction", plaintext: proto.Message.ReactionMessage.encode(reaction).finish() };
    }
    case "vote": {
      const selectedOptions = change.options.map((text) => createHash("sha256").update(text).digest());
      return {
        use: "Poll Vote",
        plaintext: proto.Message.PollVoteMessage.encode({ selectedOptions }).finish(),
      };
    }
    case "comment":
      return { use: "Enc Comment", plaintext: encode({ conversation: change.text }) };
    case "poll_option":
      return edit(POLL_ADD_OPTION, addedOption(change.option));
    case "raw":
      return edit(change.type, encode(change.message));
    case "edit": {
      const editedMessage = { conversation: change.text };
      const protocolMessage = { type: MESSAGE_EDIT, key, editedMessage, timestampMs: at };
      return edit(SecretEncType.MESSAGE_EDIT, encode({ protocolMessage }));
    }
  }
}

/** `pollAddOptionMessage { addOption { optionName } }`, which Baileys' proto does not contain. */
function addedOption(option: string): Uint8Array {
  const text = Buffer.from(option);
  const name = Buffer.concat([Buffer.of(0x0a, text.length), text]);
  const added = Buffer.concat([Buffer.of(0x12, name.length), name]);
  return Buffer.concat([Buffer.of(0xca, 0x07, added.length), added]);
}

function encrypt(key: Uint8Array, plaintext: Uint8Array, additional: string | undefined) {
  const encIv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, encIv);
  if (additional !== undefined) cipher.setAAD(Buffer.from(additional));
  const encPayload = Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  return { encIv, encPayload };
}

function wrap(
  { kind }: SecretChange,
  sealed: proto.Message.IEncReactionMessage,
  secretEncType: number | undefined,
  at: number,
): proto.IMessage {
  if (kind === "vote") {
    const { targetMessageKey: pollCreationMessageKey, ...vote } = sealed;
    return { pollUpdateMessage: { pollCreationMessageKey, vote, senderTimestampMs: at } };
  }
  if (kind === "reaction") return { encReactionMessage: sealed };
  if (kind === "comment") return { encCommentMessage: sealed };
  return { secretEncryptedMessage: { ...sealed, secretEncType: secretEncType ?? 0 } };
}
