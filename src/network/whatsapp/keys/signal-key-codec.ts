import { BufferJSON, proto } from "baileys";

/** A value of the client library's key store as text. */
export function encodeSignalKey(value: unknown): string {
  return JSON.stringify(value, BufferJSON.replacer);
}

export function decodeSignalKey(kind: string, text: string): unknown {
  // Sessions hold base64 only, and are read with every message.
  const value: unknown = kind === "session" ? JSON.parse(text) : JSON.parse(text, BufferJSON.reviver);
  if (kind === "sender-key") return repairSkippedKeys(value as Buffer);
  if (kind === "app-state-sync-key") {
    return proto.Message.AppStateSyncKeyData.fromObject(value as Record<string, unknown>);
  }
  return value;
}

/**
 * The client library writes the keys of skipped group messages as plain objects and cannot read them back, so that every
 * message that a later one overtook would be lost.
 */
function repairSkippedKeys(value: Buffer): Buffer {
  return Buffer.from(JSON.stringify(JSON.parse(value.toString()), BufferJSON.replacer));
}
