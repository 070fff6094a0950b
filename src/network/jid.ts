import { randomBytes } from "node:crypto";
import type { Jid, MessageId } from "./driver.ts";

/** The jid of a person by phone; digits only. */
export function phoneJid(digits: string): Jid {
  return `${digits}@s.whatsapp.net` as Jid;
}

/** The jid of a person by LID digits, the network's identifier for a person whose phone number is private. */
export function lidJid(digits: string): Jid {
  return `${digits}@lid` as Jid;
}

/** The jid of a group by the digits before `@g.us`. */
export function groupJid(id: string): Jid {
  return `${id}@g.us` as Jid;
}

export function isGroupJid(jid: string): boolean {
  return jid.endsWith("@g.us");
}

export function isLidJid(jid: string): boolean {
  return jid.endsWith("@lid");
}

/** The digits of a person's jid, or null for a group or a LID: a LID is never shown as a phone. */
export function phoneOfJid(jid: string): string | null {
  return jid.endsWith("@s.whatsapp.net") ? jid.slice(0, jid.indexOf("@")) : null;
}

/** A new id in the format of the network's web clients. */
export function newMessageId(): MessageId {
  return `3EB0${randomBytes(9).toString("hex").toUpperCase()}` as MessageId;
}
