import { gateway } from "../../api/gateway.ts";
import { saveFile } from "../../api/save-stream.ts";
import { readEveryPage } from "../../api/to-csv.ts";

/** Saves all that the gateway keeps of a person, without the bytes of files. */
export async function exportPerson(id: number): Promise<void> {
  const { conversations, messages: _latest, ...contact } = (await gateway.getLeadDetails({ id })).data;
  const { phone } = contact;
  const consents =
    phone === null ? [] : await readAll((page) => gateway.listConsent({ userId: "me", phone, ...page }));
  const chats = [];
  for (const { instance_id, jid, title } of conversations) {
    const messages = await readAll((page) => gateway.listChatMessages({ id: instance_id, jid, ...page }));
    chats.push({ instance_id, jid, title, messages });
  }
  const person = { exported_at: new Date().toISOString(), contact, consents, conversations: chats };
  saveFile(`contact-${id}.json`, new Blob([JSON.stringify(person, null, 2)], { type: "application/json" }));
}

async function readAll<Row>(readPage: Parameters<typeof readEveryPage<Row>>[0]): Promise<Row[]> {
  return (await readEveryPage(readPage, Number.POSITIVE_INFINITY)).rows;
}
