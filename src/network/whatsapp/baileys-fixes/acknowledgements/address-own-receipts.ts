// Baileys 7.0.0-rc14 gives the receipt of an own phone's message to the chat itself, if that is no number or LID.
// Not reported upstream. It also takes our phone's message to a broadcast list for another person's, if that names the phone
// by LID.
import {
  areJidsSameUser,
  type BinaryNode,
  decryptMessageNode,
  jidDecode,
  proto,
  type WASocket,
} from "baileys";
import { detachListeners } from "../../stanzas/detach-listeners.ts";
import { isBroadcastList } from "../../stanzas/stanza.ts";
import { silentBaileysLogger } from "../silent-baileys-logger.ts";

const MESSAGE = "CB:message";
const RIGHT = ["s.whatsapp.net", "lid"];

/**
 * For a bot or a hosted business the receipt goes to the own phone and names the chat; for a broadcast list it goes to the
 * list and names the phone.
 */
export function addressOwnReceipts({ ws, authState, signalRepository, sendNode }: WASocket): void {
  const handles = detachListeners(ws, MESSAGE);
  const isReceived = async (node: BinaryNode): Promise<boolean> => {
    const { id = "", lid = "" } = authState.creds.me ?? {};
    const { fullMessage, decrypt } = decryptMessageNode(node, id, lid, signalRepository, silentBaileysLogger);
    await decrypt();
    return fullMessage.messageStubType !== proto.WebMessageInfo.StubType.CIPHERTEXT;
  };
  ws.on(MESSAGE, async (node: BinaryNode) => {
    const { id, from = "", recipient, participant } = node.attrs;
    const isOther = recipient !== undefined && !RIGHT.includes(jidDecode(recipient)?.server ?? "");
    const isOwnList = isBroadcastList(from) && areJidsSameUser(participant, authState.creds.me?.lid);
    if ((isOther || isOwnList) && (await isReceived(node).catch(() => false))) {
      const attrs: BinaryNode["attrs"] = { id: id ?? "", to: from, type: "sender" };
      if (isOwnList) attrs.participant = participant ?? "";
      else attrs.recipient = recipient ?? "";
      await sendNode({ tag: "receipt", attrs }).catch(() => {});
      return;
    }
    for (const handle of handles) await handle(node);
  });
}
