import { randomBytes } from "node:crypto";
import {
  type ChatModification,
  chatModificationToAppPatch,
  decodePatches,
  encodeSyncdPatch,
  type LTHashState,
  newLTHashState,
  proto,
  type WAPatchName,
} from "baileys";
import type { Companion } from "./companion.ts";
import type { FileAddress } from "./control.ts";
import type { Network } from "./network.ts";
import type { ServerPerson } from "./person.ts";
import {
  type BinaryNode,
  bytes,
  child,
  childrenNamed,
  node,
  result,
  SERVER,
  seconds,
} from "./protocol/nodes.ts";
import type { QueryHandler } from "./query.ts";

/** One app state collection of a person's devices: encrypted patches by version. */
export class Collection {
  state: LTHashState = newLTHashState();
  readonly patches: Uint8Array[] = [];
}

type AppStateKey = proto.Message.IAppStateSyncKey;

/** The app state key, which the phone creates. */
export function appStateKeyOf(person: ServerPerson): AppStateKey {
  person.appStateKey ??= {
    keyId: { keyId: randomBytes(6) },
    keyData: {
      keyData: randomBytes(32),
      fingerprint: { rawId: 1, currentIndex: 0, deviceIndexes: [0] },
      timestamp: Date.now(),
    },
  };
  return person.appStateKey;
}

const keyIdOf = (key: AppStateKey): string => Buffer.from(key.keyId?.keyId ?? []).toString("base64");

export function collectionOf(person: ServerPerson, name: string): Collection {
  const found = person.appState.get(name) ?? new Collection();
  person.appState.set(name, found);
  return found;
}

const getKeyOf = (person: ServerPerson) => async (id: string) => {
  const key = appStateKeyOf(person);
  return keyIdOf(key) === id ? key.keyData : undefined;
};

/** Returns the patches that a device lacks, and stores its own. */
export const appStateQuery: QueryHandler = async ({ iq, companion, network }) => {
  const results: BinaryNode[] = [];
  for (const asked of childrenNamed(child(iq, "sync"), "collection")) {
    const external = network.faults.take("external_snapshot", companion.person.phone);
    if (external) results.push(snapshotAt(asked.attrs.name ?? "", external.at));
    else results.push(await collectionResponse(network, companion, asked));
  }
  return result(iq, [node("sync", {}, results)]);
};

async function collectionResponse(
  network: Network,
  { person, number }: Companion,
  asked: BinaryNode,
): Promise<BinaryNode> {
  const { name = "", version = "0" } = asked.attrs;
  const collection = collectionOf(person, name);
  const patch = child(asked, "patch");
  if (patch && network.faults.take("setting_conflict", person.phone)) await touch(person, name);
  if (patch && Number(version) !== collection.patches.length) {
    return node("collection", { name, type: "error" }, [node("error", { code: 409, text: "conflict" })]);
  }
  if (patch) await take(person, name as WAPatchName, bytes(patch));
  const missing = patch ? [] : collection.patches.slice(Number(version));
  const patches = missing.map((one) => node("patch", {}, Buffer.from(one)));
  const content = missing.length > 0 ? [node("patches", {}, patches)] : [];
  const response = node("collection", { name, version: collection.patches.length }, content);
  if (patch) notifyOfSettings(person, name, number);
  return response;
}

function snapshotAt(name: string, at: FileAddress): BinaryNode {
  const blob = proto.ExternalBlobReference.encode({ mediaKey: randomBytes(32), ...at }).finish();
  return node("collection", { name, version: 1 }, [node("snapshot", {}, Buffer.from(blob))]);
}

/** Stores a device's patch and applies it as the phone does. */
async function take(person: ServerPerson, name: WAPatchName, raw: Buffer): Promise<void> {
  const collection = collectionOf(person, name);
  const version = collection.patches.length + 1;
  const patch = { ...proto.SyncdPatch.decode(raw), version: { version } };
  collection.patches.push(proto.SyncdPatch.encode(patch).finish());
  const { state, mutationMap } = await decodePatches(name, [patch], collection.state, getKeyOf(person), {});
  collection.state = state;
  for (const { index, syncAction } of Object.values(mutationMap)) {
    const action = proto.SyncActionValue.create(syncAction.value ?? {}).toJSON();
    person.appSettings.push({ collection: name, index, action });
    person.name = syncAction.value?.pushNameSetting?.name ?? person.name;
  }
}

/** An unrelated change in the same collection. */
async function touch(person: ServerPerson, name: string): Promise<void> {
  const create = chatModificationToAppPatch({ pin: true }, "5511900000009@s.whatsapp.net");
  await changeSetting(person, { ...create, type: name as WAPatchName });
}

/** The phone changes a setting and notifies its devices. */
export async function changeAppState(person: ServerPerson, change: object, jid: string): Promise<void> {
  await changeSetting(person, chatModificationToAppPatch(change as ChatModification, jid));
}

export async function changeSetting(
  person: ServerPerson,
  create: ReturnType<typeof chatModificationToAppPatch>,
): Promise<void> {
  const key = appStateKeyOf(person);
  const { state } = collectionOf(person, create.type);
  const { patch } = await encodeSyncdPatch(create, keyIdOf(key), state, getKeyOf(person));
  await take(person, create.type, Buffer.from(proto.SyncdPatch.encode(patch).finish()));
  notifyOfSettings(person, create.type, 0);
}

/** Notifies a person's devices of new patches. */
export function notifyOfSettings(person: ServerPerson, name: string, by: number): void {
  const { length } = collectionOf(person, name).patches;
  for (const companion of person.companions.values()) {
    if (companion.number === by) continue;
    const attrs = { from: SERVER, type: "server_sync", id: randomBytes(8).toString("hex"), t: seconds() };
    companion.deliver(node("notification", attrs, [node("collection", { name, version: length })]));
  }
}
