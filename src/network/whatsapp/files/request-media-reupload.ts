import { decryptMediaRetryData, encryptMediaRetryRequest, proto, type WASocket } from "baileys";
import type { IdentityStore } from "../keys/identity-store.ts";
import type { WhatsAppMediaRef } from "./whatsapp-media-ref.ts";

const { SUCCESS, NOT_FOUND } = proto.MediaRetryNotification.ResultType;
const NOT_THERE = 404;

type Update = Parameters<typeof decryptMediaRetryData>[0];

/**
 * Asks the phones to upload a file again; returns its new path, undefined if they no longer have it. Rejects
 * if no phone responds in time, for example because it is switched off.
 */
export async function requestMediaReupload(
  sock: WASocket,
  identities: IdentityStore,
  ref: WhatsAppMediaRef,
  ms: number,
): Promise<string | undefined> {
  const { message, key } = ref;
  if (!message) return undefined;
  const mediaKey = Buffer.from(key, "base64");
  const response = awaitResponse(sock, message.id, ms);
  response.catch(() => {});
  // The chat's address may have changed since the message came.
  const chat = await identities.chatOf(message.remoteJid);
  const named = { ...message, ...(chat && { remoteJid: await identities.addressOf(chat) }) };
  await sock.sendNode(encryptMediaRetryRequest(named, mediaKey, sock.authState.creds.me?.id ?? ""));
  const reported = await response;
  if (!reported) return undefined;
  const { result, directPath } = decryptMediaRetryData(reported, mediaKey, message.id);
  if (result === NOT_FOUND) return undefined;
  if (result !== SUCCESS || !directPath) throw new Error("The phone could not upload the file again.");
  return directPath;
}

/** The phones' response for a message; undefined if they have neither the message nor its file. */
function awaitResponse({ ev }: WASocket, id: string, ms: number): Promise<Update | undefined> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      ev.off("messages.media-update", onUpdate);
      ev.off("connection.update", watch);
    };
    const finish = (media: Update | undefined): void => {
      end();
      resolve(media);
    };
    const fail = (why: string): void => {
      end();
      reject(new Error(why));
    };
    const onUpdate = (updates: { key: { id?: string | null }; media?: Update; error?: unknown }[]): void => {
      const found = updates.find(({ key }) => key.id === id);
      if (!found) return;
      const { output } = (found.error ?? {}) as { output?: { statusCode?: number } };
      if (!found.media && output?.statusCode !== NOT_THERE) fail("The phone refused the file.");
      else finish(found.media);
    };
    const watch = ({ connection }: { connection?: string }): void => {
      if (connection === "close") fail("The connection ended before the phone responded.");
    };
    const timer = setTimeout(fail, ms, "The phone did not respond.");
    ev.on("messages.media-update", onUpdate);
    ev.on("connection.update", watch);
  });
}
