import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../../../test/gateway.ts";
import { createHttpRequester } from "../../../test/http-requester.ts";
import { blackPng, inBase64, SAMPLE } from "../../../test/sample-files.ts";
import { type FileServer, file, startFileServer } from "../../../test/servers/file-server.ts";

let gateway: TestGateway;
let files: FileServer;
let shop: TestInstance;

beforeAll(async () => {
  gateway = await startTestGateway();
  files = await startFileServer();
  files.serve("/photo.png", file(SAMPLE.png, "image/png"));
  shop = await gateway.connectInstance({ name: "Shop" });
});

afterAll(async () => {
  await files.close();
  await gateway.stop();
});

const profile = async () => (await shop.client.getProfile({ id: shop.id })).data;
const instance = async () => (await shop.client.getInstance({ id: shop.id })).data;
const post = (what: string, body: object) =>
  createHttpRequester(() => gateway.url)(`POST /api/v1/instances/${shop.id}/profile/${what}`, body, {
    "x-api-key": shop.api_key,
  });

describe("the profile of an instance", () => {
  test("has a name, which the instance and message recipients see too", async () => {
    const { data } = await shop.client.setProfileName({ id: shop.id, name: " Loja São João " });
    expect(data).toEqual({ name: "Loja São João" });
    expect([(await profile()).name, (await instance()).profile_name]).toEqual([data.name, data.name]);
    const friend = await gateway.connectInstance({ name: "Friend" });
    await shop.client.sendText({ id: shop.id, number: friend.phone, text: "Hello" });
    const names = async () => {
      const { data: contacts } = await friend.client.listContacts({ id: friend.id });
      return contacts.map((one) => one.push_name);
    };
    await waitUntil(async () => (await names()).includes("Loja São João"));
  });

  test("has a text below the name, which an empty text removes", async () => {
    expect((await shop.client.setProfileStatus({ id: shop.id, text: "Open until six" })).data).toEqual({
      about: "Open until six",
      status: "Open until six",
    });
    expect(await profile()).toMatchObject({ about: "Open until six", status: "Open until six" });
    expect((await post("status", { status: "" })).body.data).toEqual({ about: null, status: null });
    expect((await profile()).about).toBeNull();
  });

  test.each<[string, () => object]>([
    ["an address", () => ({ url: files.at("/photo.png") })],
    ["base64", () => ({ base64: inBase64(SAMPLE.png) })],
    ["a data URI", () => ({ image: `data:image/png;base64,${inBase64(SAMPLE.png)}` })],
  ])("has a picture, given by %s", async (_, body) => {
    const { body: changed } = await post("photo", body());
    const { picture_url } = changed.data;
    expect(picture_url).toMatch(/^http.*\/sandbox\/pictures\/\w+$/);
    expect([(await profile()).picture_url, (await instance()).profile_picture_url]).toEqual([
      picture_url,
      picture_url,
    ]);
    const shown = await fetch(gateway.url + new URL(picture_url).pathname);
    expect([shown.status, shown.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
    expect(Buffer.from(await shown.arrayBuffer()).subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
  });

  test("has a picture, uploaded in a form, until it is removed", async () => {
    const photo = { bytes: SAMPLE.png, file_name: "me.png" };
    const { data } = await shop.client.setProfilePhoto({ id: shop.id, file: photo });
    expect(data.picture_url).not.toBeNull();
    const removed = await shop.client.setProfilePhoto({ id: shop.id, url: null });
    expect(removed.data).toEqual({ picture_url: null });
    expect([(await profile()).picture_url, (await instance()).profile_picture_url]).toEqual([null, null]);
    const shown = await fetch(gateway.url + new URL(data.picture_url ?? "").pathname);
    expect(shown.status).toBe(404);
  });

  test.each<[string, () => object, string]>([
    ["no picture", () => ({}), "url"],
    ["a picture that is none", () => ({ base64: inBase64(SAMPLE.pdf) }), "base64"],
    ["an empty picture", () => ({ base64: "" }), "base64"],
    ["a picture of 20,000 by 20,000 pixels", () => ({ base64: inBase64(blackPng(20_000)) }), "base64"],
    ["a picture at an address inside", () => ({ url: "http://169.254.169.254/" }), "url"],
  ])("does not take %s", async (_, body, field) => {
    const before = await profile();
    const { status, body: error } = await post("photo", body());
    expect([status, error.code, error.details.fields[0].field]).toEqual([400, "VALIDATION_ERROR", field]);
    expect(await profile()).toEqual(before);
  });
});

describe("privacy settings", () => {
  test("are changed one by one, and only those that the request names", async () => {
    const { data } = await shop.client.setPrivacy({ id: shop.id, last: "contacts", readreceipts: "none" });
    expect(data).toEqual({ privacy: { last: "contacts", readreceipts: "none" } });
    expect((await profile()).privacy).toMatchObject({
      last: "contacts",
      readreceipts: "none",
      online: "all",
    });
  });

  test.each([
    ["a value that does not exist", { last: "friends" }, "last"],
    ["a value of another setting", { online: "contacts" }, "online"],
    ["no setting", {}, "id"],
  ])("are refused with %s", async (_, body, field) => {
    const { body: refusal } = await post("privacy", body);
    expect(refusal.code).toBe("VALIDATION_ERROR");
    if (field !== "id") expect(refusal.details.fields[0].field).toBe(field);
  });
});

describe("a business", () => {
  const BAKERY = "5511977770321";
  const business = {
    description: "Bread",
    category: "Bakery",
    website: ["https://padaria.example"],
    hours: {
      timezone: "America/Sao_Paulo",
      days: [{ day: "mon", mode: "specific_hours", opens: "09:00", closes: "18:00" }],
    },
  };

  test("shows its data and, page by page, its products", async () => {
    const catalog = ["Bread", "Cake", "Pie"].map((name, nth) => ({
      id: `${nth}`,
      name,
      price: 4.5,
      currency: "BRL",
    }));
    const bakery = { id: shop.id, number: BAKERY };
    await shop.client.sandboxContact({ id: shop.id, from: BAKERY, push_name: "Padaria", business, catalog });
    expect((await shop.client.getBusiness(bakery)).data).toEqual({
      jid: `${BAKERY}@s.whatsapp.net`,
      lid: expect.any(String),
      phone: BAKERY,
      name: "Padaria",
      email: null,
      address: null,
      ...business,
    });
    const first = await shop.client.getCatalog({ ...bakery, limit: 2 });
    expect(first.data.map(({ name, price }) => [name, price])).toEqual([
      ["Bread", 4.5],
      ["Cake", 4.5],
    ]);
    expect(first.pagination).toMatchObject({ limit: 2, has_more: true });
    const cursor = first.pagination.next_cursor ?? "";
    const rest = await shop.client.getCatalog({ ...bakery, limit: 2, cursor });
    expect(rest.data.map(({ name }) => name)).toEqual(["Pie"]);
    expect(rest.pagination).toEqual({ limit: 2, next_cursor: null, has_more: false });
  });

  test("is not found for a person or a phone that is none", async () => {
    const person = { id: shop.id, number: "5511977770322" };
    for (const asked of [person, { id: shop.id }]) {
      await expect(shop.client.getBusiness(asked)).rejects.toMatchObject({ code: "NOT_FOUND" });
      await expect(shop.client.getCatalog(asked)).rejects.toMatchObject({ code: "NOT_FOUND" });
    }
    await expect(shop.client.getCatalog({ id: shop.id, number: "5511977770000" })).rejects.toMatchObject({
      code: "RECIPIENT_NOT_FOUND",
    });
  });
});
