import type { NetworkArrival } from "../e2e/ledgers.ts";
import type { WhatsAppControl } from "../whatsapp-server/control.ts";

/** Messages that arrived at the simulated server, with the text that the contact's phone decrypted. */
export async function readWhatsApp(control: WhatsAppControl): Promise<NetworkArrival[]> {
  const { arrivals, decryptions } = await control.ledger();
  const texts = new Map(decryptions.flatMap(({ id, text }) => (text === undefined ? [] : [[id, text]])));
  // Ignores messages without a text, which devices exchange themselves.
  return arrivals.flatMap(({ id }) => (texts.has(id) ? [{ message_id: id, key: texts.get(id) }] : []));
}
