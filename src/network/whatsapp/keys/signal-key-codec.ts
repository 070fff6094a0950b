import { BufferJSON, proto } from "baileys";
import { repairSkippedKeys } from "../baileys-fixes/repair-skipped-keys.ts";

/** Encodes a value of Baileys' key store as text. */
export function encodeSignalKey(value: unknown): string {
  return JSON.stringify(value, BufferJSON.replacer);
}

export function decodeSignalKey(kind: string, text: string): unknown {
  // Sessions contain only base64 and are read with every message, so they skip the slower reviver.
  const value: unknown = kind === "session" ? JSON.parse(text) : JSON.parse(text, BufferJSON.reviver);
  if (kind === "sender-key") return repairSkippedKeys(value as Buffer);
  if (kind === "app-state-sync-key") {
    return proto.Message.AppStateSyncKeyData.fromObject(value as Record<string, unknown>);
  }
  return value;
}
