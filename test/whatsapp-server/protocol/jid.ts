import { jidDecode } from "baileys";

export type Addressing = "lid" | "pn";

export interface ParsedJid {
  user: string;
  device: number;
  server: string;
}

export function parseJid(jid: string | undefined): ParsedJid | undefined {
  const parsed = jidDecode(jid);
  return parsed && { user: parsed.user, device: parsed.device ?? 0, server: parsed.server };
}

export const isGroup = (jid: string): boolean => jid.endsWith("@g.us");

export const withDevice = (user: string, device: number, server: string): string =>
  `${user}${device === 0 ? "" : `:${device}`}@${server}`;
