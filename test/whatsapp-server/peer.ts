import { proto } from "baileys";
import type { Companion } from "./companion.ts";
import { addressJid } from "./envelope.ts";
import type { StoredMessage } from "./handset.ts";
import { peer } from "./initial-sync.ts";
import type { Network } from "./network.ts";
import { seconds } from "./nodes.ts";

const { PeerDataOperationRequestType } = proto.Message;

/** A linked device asks its own phone for a message that it could not read. */
export async function handlePeerRequest(
  network: Network,
  companion: Companion,
  id: string,
  message: proto.IMessage,
): Promise<void> {
  const { handset } = companion.person;
  const request = message.protocolMessage?.peerDataOperationRequestMessage;
  const type = request?.peerDataOperationRequestType;
  if (type !== PeerDataOperationRequestType.PLACEHOLDER_MESSAGE_RESEND) {
    network.book.unhandled.push(`peer request ${type} of ${handset.person.phone} in ${id}`);
    return;
  }
  const found = (request?.placeholderMessageResendRequest ?? []).flatMap(({ messageKey }) => {
    const stored = handset.kept(messageKey?.id ?? "");
    return stored
      ? [{ placeholderMessageResendResponse: { webMessageInfoBytes: infoOf(stored, messageKey) } }]
      : [];
  });
  if (found.length === 0) return;
  await peer(network, companion, {
    type: proto.Message.ProtocolMessage.Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE,
    peerDataOperationRequestResponseMessage: {
      peerDataOperationRequestType: type,
      stanzaId: id,
      peerDataOperationResult: found,
    },
  });
}

const infoOf = (stored: StoredMessage, key: proto.IMessageKey | null | undefined): Uint8Array =>
  proto.WebMessageInfo.encode({
    key: { ...key, remoteJid: key?.remoteJid ?? addressJid(stored.to) },
    message: stored.message,
    messageTimestamp: seconds(stored.at),
    pushName: stored.from.name,
  }).finish();
