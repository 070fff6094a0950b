import { proto } from "baileys";
import type { AlbumItem, MessageId } from "../../driver.ts";

/** Longer ids are malformed. */
const ID_MAX = 200;

/** The album that the message is an item of. */
export function readAlbum({ messageContextInfo }: proto.IMessage): AlbumItem | undefined {
  const { associationType, parentMessageKey, messageIndex } = messageContextInfo?.messageAssociation ?? {};
  const { id } = parentMessageKey ?? {};
  const isItem = associationType === proto.MessageAssociation.AssociationType.MEDIA_ALBUM;
  if (!isItem || !id || id.length > ID_MAX) return undefined;
  return {
    id: id as MessageId,
    ...(messageIndex != null && messageIndex >= 0 && { position: messageIndex }),
  };
}
