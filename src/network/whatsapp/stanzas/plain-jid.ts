import { jidDecode } from "baileys";
import type { Jid } from "../../driver.ts";
import { groupJid, lidJid, phoneJid } from "../../jid.ts";

/** The person or group of any network address, without a device; undefined for other addresses. */
export function plainJid(address: string | null | undefined): Jid | undefined {
  const parts = address ? jidDecode(address) : undefined;
  if (!parts?.user) return undefined;
  switch (parts.server) {
    case "s.whatsapp.net":
    case "c.us":
    case "hosted":
      return phoneJid(parts.user);
    case "lid":
    case "hosted.lid":
      return lidJid(parts.user);
    case "g.us":
      return groupJid(parts.user);
    default:
      return undefined;
  }
}

/** The digits of a jid. */
export function userOf(jid: string): string {
  return jidDecode(jid)?.user ?? "";
}
