import type { WASocket } from "baileys";

/** Removes this device from the account; resolves when the network confirms it. */
export async function unlinkDevice(sock: WASocket): Promise<void> {
  const jid = sock.authState.creds.me?.id ?? "";
  await sock.query({
    tag: "iq",
    attrs: { to: "s.whatsapp.net", type: "set", xmlns: "md" },
    content: [{ tag: "remove-companion-device", attrs: { jid, reason: "user_initiated" } }],
  });
}
