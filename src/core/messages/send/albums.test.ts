import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { waitUntil } from "../../../../test/gateway.ts";
import { mp4Video } from "../../../../test/media-samples.ts";
import { inBase64, SAMPLE } from "../../../../test/sample-files.ts";
import { startWhatsAppGateway, type WhatsAppGateway } from "../../../../test/whatsapp-gateway.ts";
import type { PersonInfo } from "../../../../test/whatsapp-server/control.ts";
import type { Client } from "../../../client/client.ts";

let on: WhatsAppGateway;
let client: Client;
let id: number;
let ana: PersonInfo;

const picture = { base64: inBase64(SAMPLE.png) };
const film = { base64: inBase64(mp4Video({ width: 240, height: 320, seconds: 3 })) };

beforeAll(async () => {
  on = await startWhatsAppGateway(undefined, {}, async (control) => {
    ana = await control.addPerson({ name: "Ana" });
  });
  ({ id, client } = on.instance);
});
beforeEach(() => on.control.clearLedger());
afterAll(() => on.stop());

type Items = NonNullable<Parameters<Client["sendMedia"]>[0]["items"]>;

async function sendAlbum(items: Items, more: { async?: boolean; reply_to?: string } = {}, key?: string) {
  const { data } = await client.sendMedia({ id, number: ana.phone, items, ...more }, { idempotencyKey: key });
  return data as { message_id: string; items: { message_id: string; id: number; status: string }[] };
}

/** What Ana's phone has got of an album, with the message that holds it together, in the order of arrival. */
async function arrived(items: readonly { message_id: string }[]) {
  const last = items.at(-1)?.message_id ?? "";
  await waitUntil(async () => (await on.control.message(ana.phone, last)) !== undefined);
  const { arrivals } = await on.control.ledger();
  return Promise.all(
    arrivals.map(async (stanza) => ({ stanza, message: await on.control.message(ana.phone, stanza.id) })),
  );
}

const countMessages = async () =>
  Number((await on.gateway.database.pool.query("select count(*) from message")).rows[0].count);

describe("an album", () => {
  test("goes out as WhatsApp writes it: the message that holds it together, then each item with its key", async () => {
    const { items, message_id } = await sendAlbum([{ ...picture, caption: "First" }, film, picture]);
    expect(items.map(({ status }) => status)).toEqual(["sent", "sent", "sent"]);
    expect(items[0]?.message_id).toBe(message_id);
    const [parent, ...children] = await arrived(items);
    expect(parent).toMatchObject({
      stanza: { type: "text", media_types: [] },
      message: { albumMessage: { expectedImageCount: 2, expectedVideoCount: 1 } },
    });
    expect(children.map(({ stanza }) => stanza.id)).toEqual(items.map((one) => one.message_id));
    expect(children.map(({ stanza }) => [stanza.type, stanza.media_types])).toEqual([
      ["media", ["image"]],
      ["media", ["video"]],
      ["media", ["image"]],
    ]);
    for (const { message } of children)
      expect(message?.messageContextInfo).toMatchObject({
        messageAssociation: {
          associationType: "MEDIA_ALBUM",
          parentMessageKey: { id: parent?.stanza.id, fromMe: true, remoteJid: parent?.stanza.to },
        },
      });
    expect(children[0]?.message).toMatchObject({ imageMessage: { caption: "First" } });
    const logged = await Promise.all(
      items.map((one) => client.getMessage({ id, messageId: one.message_id })),
    );
    expect(logged.map(({ data }) => data.album)).toEqual(
      [0, 1, 2].map((position) => ({ id: parent?.stanza.id, position })),
    );
  });

  test("is accepted in one commit, and answers a repetition with the same items", async () => {
    const first = await sendAlbum([picture, film], { async: true }, "album-1");
    expect(first.items.map(({ status }) => status)).toEqual(["pending", "pending"]);
    await arrived(first.items);
    const { rows } = await on.gateway.database.pool.query(
      "select count(distinct created_at) as commits, count(*) from message where id = any($1)",
      [first.items.map((one) => one.id)],
    );
    expect(rows).toEqual([{ commits: 1, count: 2 }]);
    const before = await countMessages();
    expect((await sendAlbum([picture, film], { async: true }, "album-1")).items).toEqual(first.items);
    expect(await countMessages()).toBe(before);
  });

  test("goes on after an item that the network refuses", async () => {
    await on.control.fault({ fault: "ack_error", error: 479 });
    const { items } = await sendAlbum([picture, film, picture]);
    expect(items.map(({ status }) => status)).toEqual(["failed", "sent", "sent"]);
    expect(items[0]).toMatchObject({ error: { code: "SEND_FAILED" } });
    const { arrivals } = await on.control.ledger();
    expect(arrivals.map(({ media_types }) => media_types)).toEqual([[], [], ["video"], ["image"]]);
  });

  test("of another person is received with the same album in each item", async () => {
    const ids = await Promise.all(
      [0, 1].map((position) =>
        on.control.sendMessage(ana.phone, on.instance.phone, {
          kind: "media",
          media_type: "image",
          mime_type: "image/png",
          bytes: SAMPLE.png,
          album: { id: "3EB0A1B1", position },
        }),
      ),
    );
    for (const [position, messageId] of ids.entries()) {
      const find = () => client.getMessage({ id, messageId }).catch(() => undefined);
      await waitUntil(async () => (await find()) !== undefined);
      expect((await find())?.data.album).toEqual({ id: "3EB0A1B1", position });
    }
  });

  const refused: [string, object, string][] = [
    ["one item", { items: [picture] }, "items"],
    ["31 items", { items: Array(31).fill(picture) }, "items"],
    ["a document among its items", { items: [picture, { base64: inBase64(SAMPLE.pdf) }] }, "items.1.type"],
    ["audio among its items", { items: [picture, { base64: inBase64(SAMPLE.mp3) }] }, "items.1.type"],
    ["an empty item", { items: [picture, {}] }, "items.1.url"],
    ["an item that is no base64", { items: [picture, { base64: "%%%" }] }, "items.1.base64"],
    [
      "an item that is shown once",
      { items: [{ ...picture, view_once: true }, picture] },
      "items.0.view_once",
    ],
    ["a caption beside its items", { items: [picture, picture], caption: "Hi" }, "caption"],
  ];
  test.each(refused)("with %s is refused before anything is stored", async (_, body, field) => {
    const before = await countMessages();
    const refusal = await client
      .sendMedia({ id, number: ana.phone, ...body })
      .catch((error: { details: { fields: { field: string }[] } }) => error);
    expect(refusal).toMatchObject({ status: 400, details: { fields: [{ field }] } });
    expect(await countMessages()).toBe(before);
    const { rows } = await on.gateway.database.pool.query(
      "select count(*) from outgoing_media o where not exists (select from message m where m.content ->> 'upload' = o.id) and not exists (select from media f where f.upload = o.id)",
    );
    expect(rows[0].count).toBe(0);
  });
});
