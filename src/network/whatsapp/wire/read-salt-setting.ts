import { createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren, proto } from "baileys";
import { rawFieldOf } from "../stanzas/raw-field.ts";

/** The fields of the salt, which are newer than Baileys' schema: of the history, of a setting's value, and in that. */
const IN_HISTORY = 19;
const IN_SETTING = 80;
const SALT = 1;
const SETTING_VALUE = 2;

const COLLECTION = "regular_high";
const INDEX = '["nct_salt_sync"]';
const { SET, REMOVE } = proto.SyncdMutation.SyncdOperation;

/** A change of the salt; undefined removes it. */
export interface SaltChange {
  salt: Uint8Array | undefined;
}

/** Finds the key of shared settings, 32 bytes, by its id in base64. */
type FindKey = (id: string) => Promise<Uint8Array | undefined>;
/** The bytes of a file. */
type Download = (file: proto.IExternalBlobReference) => Promise<Uint8Array>;

/** The salt in the bytes of a history from the phone. */
export function saltOfHistory(raw: Uint8Array): Uint8Array | undefined {
  return rawFieldOf(raw, IN_HISTORY);
}

/** The last change of the salt in a response with the settings that the account's devices share. */
export async function readSaltSetting(
  response: BinaryNode,
  findKey: FindKey,
  download: Download,
): Promise<SaltChange | undefined> {
  const collections = getBinaryNodeChildren(getBinaryNodeChild(response, "sync"), "collection");
  const collection = collections.find(({ attrs }) => attrs.name === COLLECTION);
  const keys = new Map<string, SettingKeys | undefined>();
  let last: SaltChange | undefined;
  for (const { operation, record } of await mutationsOf(collection, download)) {
    const id = Buffer.from(record?.keyId?.id ?? []).toString("base64");
    if (!keys.has(id)) keys.set(id, toSettingKeys(await findKey(id)));
    last = changeIn(keys.get(id), operation, record) ?? last;
  }
  return last;
}

type Mutation = Pick<proto.ISyncdMutation, "operation" | "record">;

async function mutationsOf(collection: BinaryNode | undefined, download: Download): Promise<Mutation[]> {
  const found: Mutation[] = [];
  const snapshot = contentOf(getBinaryNodeChild(collection, "snapshot"));
  if (snapshot) {
    const bytes = await download(proto.ExternalBlobReference.decode(snapshot));
    const { records } = proto.SyncdSnapshot.decode(bytes);
    found.push(...records.map((record) => ({ operation: SET, record })));
  }
  for (const patch of getBinaryNodeChildren(getBinaryNodeChild(collection, "patches"), "patch")) {
    const { mutations, externalMutations } = proto.SyncdPatch.decode(contentOf(patch) ?? new Uint8Array());
    found.push(...mutations);
    if (externalMutations) {
      found.push(...proto.SyncdMutations.decode(await download(externalMutations)).mutations);
    }
  }
  return found;
}

/** Undefined for a change of another setting, and for one that cannot be read. */
function changeIn(
  keys: SettingKeys | undefined,
  operation: Mutation["operation"],
  record: Mutation["record"],
): SaltChange | undefined {
  if (!keys || !Buffer.from(record?.index?.blob ?? []).equals(keys.index)) return undefined;
  if (operation === REMOVE) return { salt: undefined };
  const salt = saltIn(record?.value?.blob ?? new Uint8Array(), keys);
  return salt && { salt };
}

interface SettingKeys {
  /** What the index of the salt's setting is sealed to. */
  index: Buffer;
  encryption: Buffer;
}

function toSettingKeys(key: Uint8Array | undefined): SettingKeys | undefined {
  if (!key) return undefined;
  const all = Buffer.from(hkdfSync("sha256", key, "", "WhatsApp Mutation Keys", 160));
  const index = createHmac("sha256", all.subarray(0, 32)).update(INDEX).digest();
  return { index, encryption: all.subarray(32, 64) };
}

const IV_BYTES = 16;
const MAC_BYTES = 32;

function saltIn(sealed: Uint8Array, { encryption }: SettingKeys): Uint8Array | undefined {
  try {
    const decipher = createDecipheriv("aes-256-cbc", encryption, sealed.subarray(0, IV_BYTES));
    const data = Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -MAC_BYTES)), decipher.final()]);
    const value = rawFieldOf(data, SETTING_VALUE);
    const setting = value && rawFieldOf(value, IN_SETTING);
    return setting && rawFieldOf(setting, SALT);
  } catch {
    return undefined;
  }
}

function contentOf(node: BinaryNode | undefined): Uint8Array | undefined {
  return node?.content instanceof Uint8Array ? node.content : undefined;
}
