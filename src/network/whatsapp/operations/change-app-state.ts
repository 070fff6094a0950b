import { setTimeout as pause } from "node:timers/promises";
import {
  type BinaryNode,
  type ChatModification,
  chatModificationToAppPatch,
  encodeSyncdPatch,
  getBinaryNodeChild,
  newLTHashState,
  proto,
  type WAPatchName,
  type WASocket,
} from "baileys";
import { OperationError, toOperationError } from "./operation-error.ts";

const MAX_ATTEMPTS = 3;

/** A change of a setting that all devices of an account share, and its place among them. */
export type AppPatch = ReturnType<typeof chatModificationToAppPatch>;

export function changeAppState(sock: WASocket, change: ChatModification, jid: string): Promise<void> {
  return sendAppPatch(sock, chatModificationToAppPatch(change, jid));
}

/**
 * If another device was faster, the change is repeated on the new state; Baileys itself treats that response as
 * success.
 */
export async function sendAppPatch(sock: WASocket, patch: AppPatch): Promise<void> {
  const keyId = await settingsKey(sock);
  for (let attempt = 1; ; attempt++) {
    const error = await sock.appStatePatchMutex.mutex(() => send(sock, keyId, patch));
    if (!error) return;
    const code = Number(error.code);
    if (code === CONFLICT && attempt < MAX_ATTEMPTS) continue;
    throw (
      toOperationError(code, error.text ?? "") ??
      new Error(`The network did not accept the change (${code}).`)
    );
  }
}

const CONFLICT = 409;

/**
 * Drops the known state of some collections, so that they arrive again as a whole, each change with its
 * event.
 */
export function resyncAppState(sock: WASocket, collections: WAPatchName[]): Promise<void> {
  return sock.appStatePatchMutex.mutex(async () => {
    const versions = Object.fromEntries(collections.map((name) => [name, null]));
    await sock.authState.keys.set({ "app-state-sync-version": versions });
    await sock.resyncAppState(collections, false);
  });
}

/** The phone sends it shortly after the pairing. */
async function settingsKey({ authState }: WASocket): Promise<string> {
  for (let waitedMs = 0; !authState.creds.myAppStateKeyId && waitedMs < KEY_WAIT_MS; waitedMs += POLL_MS) {
    await pause(POLL_MS);
  }
  const keyId = authState.creds.myAppStateKeyId;
  if (!keyId)
    throw new OperationError(
      "CONFLICT",
      "The phone has not shared the key of its chat settings yet. Try again later.",
    );
  return keyId;
}

const KEY_WAIT_MS = 5000;
const POLL_MS = 50;

/** The attributes of the network's error, if any. */
async function send(
  sock: WASocket,
  keyId: string,
  patchOf: AppPatch,
): Promise<Record<string, string> | undefined> {
  const { keys } = sock.authState;
  const { type: name } = patchOf;
  return keys.transaction(async () => {
    await sock.resyncAppState([name], false);
    const { [name]: stored } = await keys.get("app-state-sync-version", [name]);
    const getKey = async (id: string) => (await keys.get("app-state-sync-key", [id]))[id];
    const { patch, state } = await encodeSyncdPatch(patchOf, keyId, stored ?? newLTHashState(), getKey);
    const response = await sock.query(stanzaOf(name, state.version - 1, patch));
    const error = errorOf(response);
    if (!error) await keys.set({ "app-state-sync-version": { [name]: state } });
    return error;
  }, sock.authState.creds.me?.id ?? "settings");
}

function stanzaOf(name: string, version: number, patch: proto.ISyncdPatch): BinaryNode {
  const content = [{ tag: "patch", attrs: {}, content: proto.SyncdPatch.encode(patch).finish() }];
  const attrs = { name, version: String(version), return_snapshot: "false" };
  return {
    tag: "iq",
    attrs: { to: "s.whatsapp.net", type: "set", xmlns: "w:sync:app:state" },
    content: [{ tag: "sync", attrs: {}, content: [{ tag: "collection", attrs, content }] }],
  };
}

function errorOf(response: BinaryNode | undefined): Record<string, string> | undefined {
  const collection = getBinaryNodeChild(getBinaryNodeChild(response, "sync"), "collection");
  if (!collection) return { code: "500", text: "no answer" };
  return collection.attrs.type === "error"
    ? (getBinaryNodeChild(collection, "error")?.attrs ?? {})
    : undefined;
}
