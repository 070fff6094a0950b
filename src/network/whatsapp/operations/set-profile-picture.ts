import type { WASocket } from "baileys";
import type { Jid } from "../../driver.ts";

/** Sets our own picture or that of a group; null removes it. */
export async function setProfilePicture(
  sock: WASocket,
  image: Uint8Array | null,
  group?: Jid,
): Promise<null> {
  const attrs = { to: "s.whatsapp.net", type: "set", xmlns: "w:profile:picture" };
  const content = image && [{ tag: "picture", attrs: { type: "image" }, content: image }];
  await sock.query({
    tag: "iq",
    attrs: { ...attrs, ...(group && { target: group }) },
    ...(content && { content }),
  });
  return null;
}
