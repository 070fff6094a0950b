import { createHmac, hkdfSync } from "node:crypto";
import { aesEncrypt, hmacSign, proto } from "baileys";
import { appStateKeyOf, type Collection, collectionOf, notifyOfSettings } from "./app-state.ts";
import type { Network } from "./network.ts";
import type { ServerPerson } from "./person.ts";
import { type BinaryNode, bytes, child, childBytes, children, node, seconds } from "./protocol/nodes.ts";

const { SyncdOperation } = proto.SyncdMutation;
const COLLECTION = "regular_high";
const INDEX = Buffer.from('["nct_salt_sync"]');
const SALT_OF_HISTORY = 19;
const SALT_OF_SETTINGS = 80;
const MISSING = 463;

/** With this token `by` may write to `person`. */
export const trustToken = (person: ServerPerson, by: ServerPerson): Buffer =>
  createHmac("sha256", person.trust).update(by.phone).digest().subarray(0, 16);

/** Whether a person shows about text and picture to a requester with this token. */
export const showsProfile = (
  person: ServerPerson,
  requested: BinaryNode | undefined,
  by: ServerPerson,
): boolean => !person.hidesProfile || childBytes(requested, "tctoken").equals(trustToken(person, by));

/** A client issues trusted-contact tokens and receives those of the others. */
export function exchangeTokens(network: Network, by: ServerPerson, asked: BinaryNode): BinaryNode[] {
  const others = children(asked).flatMap(({ attrs }) => network.findPerson(attrs.jid) ?? []);
  for (const other of others) other.trustedBy.add(by.phone);
  const given = others.filter((other) => by.trustedBy.has(other.phone)).map((other) => tokenNode(other, by));
  return given.length > 0 ? [node("tokens", {}, given)] : [];
}

const tokenNode = (of: ServerPerson, by: ServerPerson): BinaryNode =>
  node("token", { jid: of.jid("lid"), t: seconds(), type: "trusted_contact" }, trustToken(of, by));

/** The error of a message to a person whom the sender has never written to. A token, if present, must be valid. */
export function distrust(
  network: Network,
  by: ServerPerson,
  to: ServerPerson,
  stanza: BinaryNode,
): number | undefined {
  const { id, edit } = stanza.attrs;
  const [token, first] = [child(stanza, "tctoken"), child(stanza, "cstoken")];
  if (token && !bytes(token).equals(trustToken(to, by)))
    network.book.unhandled.push(`wrong tctoken of ${id}`);
  const isRenewed = to.oldLids.size > 0;
  if (first && !isRenewed && !bytes(first).equals(firstToken(by, to)))
    network.book.unhandled.push(`wrong cstoken of ${id}`);
  const isNew = to !== by && !by.chats.has(to.phone) && edit === undefined;
  return isNew && network.settings.trustDemanded && !token && !first ? MISSING : undefined;
}

const firstToken = (by: ServerPerson, to: ServerPerson): Buffer =>
  createHmac("sha256", by.salt ?? "")
    .update(to.jid("lid"))
    .digest();

/** The salt as a history field that Baileys' proto does not contain. */
export const saltInHistory = ({ salt }: ServerPerson): Buffer =>
  salt ? field(SALT_OF_HISTORY, salt) : Buffer.alloc(0);

/** The phone sets or removes the salt in the shared settings. */
export function shareSaltInSettings(person: ServerPerson, salt: Uint8Array | undefined): void {
  const operation = salt ? SyncdOperation.SET : SyncdOperation.REMOVE;
  const key = appStateKeyOf(person);
  const keyId = key.keyId?.keyId ?? new Uint8Array();
  const all = Buffer.from(hkdfSync("sha256", key.keyData?.keyData ?? "", "", "WhatsApp Mutation Keys", 160));
  const value = salt ? field(SALT_OF_SETTINGS, field(1, salt)) : Buffer.alloc(0);
  const data = Buffer.concat([field(1, INDEX), field(2, value)]);
  const sealed = aesEncrypt(data, all.subarray(32, 64));
  const operationByte = Buffer.from([salt ? 1 : 2]);
  const length = Buffer.alloc(8);
  length[7] = 1 + keyId.length;
  const sealedWith = Buffer.concat([operationByte, keyId, sealed, length]);
  const mac = hmacSign(sealedWith, all.subarray(64, 96), "sha512").subarray(0, 32);
  const record = {
    index: { blob: hmacSign(INDEX, all.subarray(0, 32)) },
    value: { blob: Buffer.concat([sealed, mac]) },
    keyId: { id: keyId },
  };
  const collection: Collection = collectionOf(person, COLLECTION);
  const version = { version: collection.patches.length + 1 };
  const patch = { version, keyId: { id: keyId }, mutations: [{ operation, record }] };
  collection.patches.push(proto.SyncdPatch.encode(patch).finish());
  notifyOfSettings(person, COLLECTION, 0);
}

function field(number: number, value: Uint8Array): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(value.length), value]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}
