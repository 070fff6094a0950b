import type { Db } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { Handlers } from "../../platform/http/handler.ts";
import type { mediaContract } from "./contract.ts";
import { type MediaUrls, noFile } from "./media.ts";
import { type OpenFileDeps, openFile } from "./open-file.ts";
import { toBase64Response } from "./to-base64-response.ts";
import { toFileResponse } from "./to-file-response.ts";

export interface MediaDeps extends OpenFileDeps {
  mediaUrls: MediaUrls;
}

type Linked = Pick<
  Parameters<Handlers<typeof mediaContract>["getLinkedMedia"]>[0],
  "input" | "headers" | "signal"
>;

export function mediaHandlers(deps: MediaDeps): Handlers<typeof mediaContract> {
  async function serveLink({ input: { mediaId, expires, signature }, headers, signal }: Linked) {
    if (!deps.mediaUrls.isGood(mediaId, expires, signature)) throw noFile();
    return toFileResponse(await openFile(deps, { media: mediaId }, signal), headers);
  }

  return {
    async downloadMedia({ input: { id, message_id, return_base64 }, headers, signal }) {
      const message = await findMessage(deps.db, id, message_id);
      const file = await openFile(deps, { message }, signal);
      return return_base64 ? toBase64Response(file) : toFileResponse(file, headers);
    },

    async getMedia({ input: { id, mediaId }, headers, signal }) {
      return toFileResponse(await openFile(deps, { media: mediaId, instance: id }, signal), headers);
    },

    getLinkedMedia: serveLink,
    getNamedMedia: serveLink,
  };
}

async function findMessage(db: Db, instanceId: number, messageId: string): Promise<number> {
  const { id } = await db
    .selectFrom("message")
    .select("id")
    .where("instance_id", "=", instanceId)
    .where("message_id", "=", messageId)
    .executeTakeFirstOrThrow(() => new GatewayError("MESSAGE_NOT_FOUND", "There is no such message."));
  return id;
}
