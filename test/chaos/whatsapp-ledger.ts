import type { NetworkArrival } from "../e2e/ledgers.ts";
import type { WhatsAppControl } from "../whatsapp-server/control.ts";

/** Messages as they arrived at the wire-level server, with the text that their reader's phone opened. */
export async function readWhatsApp(control: WhatsAppControl): Promise<NetworkArrival[]> {
  const { arrivals, decryptions } = await control.ledger();
  const texts = new Map(decryptions.flatMap(({ id, text }) => (text === undefined ? [] : [[id, text]])));
  // What devices tell each other without a text is no message of ours.
  return arrivals.flatMap(({ id }) => (texts.has(id) ? [{ message_id: id, key: texts.get(id) }] : []));
}
