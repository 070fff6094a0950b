import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway } from "../../../test/gateway.ts";
import { createHttpRequester, type HttpRequester } from "../../../test/http-requester.ts";
import { PASSWORD, signIn } from "../../../test/sign-in.ts";
import type { Client } from "../../client/client.ts";

let test: TestGateway;
let request: HttpRequester;
let shop: Client;
let other: { client: Client; user_id: number };

beforeAll(async () => {
  test = await startTestGateway();
  request = createHttpRequester(() => test.url);
  shop = (await makeTenant("shop")).client;
  other = await makeTenant("other");
});
afterAll(() => test.stop());

async function makeTenant(name: string): Promise<{ client: Client; user_id: number; token: string }> {
  const email = `boss@${name}.example`;
  const { data } = await test.owner.createAccount({ name, email, password: PASSWORD, user_name: name });
  return { ...(await signIn(test.url, { email })), user_id: data.user.id };
}

const NEWS = { purpose: "news", consent_type: "opt_in", granted: true };

describe("consent", () => {
  it("applies to the account if no subject is named, and its withdrawal is a separate record", async () => {
    const input = await shop.recordConsent({ ...NEWS, text_version: "3", channel: "web" });
    expect(input.data).toMatchObject({
      ...NEWS,
      userId: null,
      phone: null,
      text_version: "3",
      current: true,
    });
    const revoked = await shop.recordConsent({ ...NEWS, granted: false });
    const { data } = await shop.listConsent({ userId: "me" });
    expect(data.map(({ consentId, granted, current }) => [consentId, granted, current])).toEqual([
      [revoked.data.consentId, false, true],
      [input.data.consentId, true, false],
    ]);
    const change = test.database.pool.query("update consent set granted = true");
    await expect(change).rejects.toThrow("append-only");
  });

  it("can belong to a user, to a phone, or to a lead by its phone", async () => {
    const { data: me } = await shop.me();
    await shop.recordConsent({ ...NEWS, userId: me.user.id });
    const { data: lead } = await shop.createLead({ phone: "5511987652011" });
    await shop.recordConsent({ ...NEWS, purpose: "offers", lead_id: lead.id });
    const byPhone = await shop.recordConsent({
      ...NEWS,
      purpose: "offers",
      granted: false,
      phone: "+55 11 98765-2011",
    });
    expect(byPhone.data).toMatchObject({ phone: "5511987652011", current: true });
    expect((await shop.listConsent({ userId: me.user.id })).data).toMatchObject([
      { userId: me.user.id, ...NEWS },
    ]);
    const offers = (await shop.listConsent({ userId: "me" })).data.filter(
      ({ purpose }) => purpose === "offers",
    );
    expect(offers.map(({ lead_id, current }) => [lead_id, current])).toEqual([
      [null, true],
      [lead.id, false],
    ]);
  });

  it("is listed for one phone alone", async () => {
    const { client } = await makeTenant("phones");
    await client.recordConsent({ ...NEWS, phone: "5511987652101" });
    await client.recordConsent({ ...NEWS, phone: "5511987652102" });
    const { data } = await client.listConsent({ userId: "me", phone: "+55 11 98765-2101" });
    expect(data.map(({ phone }) => phone)).toEqual(["5511987652101"]);
    await expect(client.listConsent({ userId: "me", phone: "12" })).rejects.toMatchObject({ status: 400 });
  });

  it("is listed page by page", async () => {
    const { client } = await makeTenant("pages");
    for (const purpose of ["a", "b", "c"]) await client.recordConsent({ ...NEWS, purpose });
    const first = await client.listConsent({ userId: "me", limit: 2 });
    expect(first.data.map(({ purpose }) => purpose)).toEqual(["c", "b"]);
    const cursor = first.pagination.next_cursor ?? "";
    expect((await client.listConsent({ userId: "me", limit: 2, cursor })).data).toMatchObject([
      { purpose: "a" },
    ]);
  });

  it("of a user of another account gets the same response as that of an unknown user", async () => {
    const { headers } = await signIn(test.url, { email: "boss@shop.example" });
    const says = async (http: string, body?: unknown) => {
      const response = await request(http, body, headers);
      return `${response.status} ${JSON.stringify({ ...response.body, request_id: "" })}`;
    };
    const there = await says(`GET /api/data/consent/${other.user_id}`);
    expect(there).toContain("NOT_FOUND");
    expect(there).toBe(await says("GET /api/data/consent/999999999"));
    const lead = (await other.client.createLead({ name: "Theirs" })).data.id;
    for (const [mine, nobody] of [
      [{ userId: other.user_id }, { userId: 999_999_999 }],
      [{ lead_id: lead }, { lead_id: 999_999_999 }],
    ]) {
      const response = await says("POST /api/data/consent", { ...NEWS, ...mine });
      expect(response).toContain("NOT_FOUND");
      expect(response).toBe(await says("POST /api/data/consent", { ...NEWS, ...nobody }));
    }
  });

  it.each([
    [{ consent_type: "opt_in", granted: true }, "purpose"],
    [{ purpose: "news", granted: true }, "consent_type"],
    [{ purpose: "news", consent_type: "opt_in" }, "granted"],
    [{ ...NEWS, granted: "maybe" }, "granted"],
    [{ ...NEWS, phone: "12" }, "phone"],
    [{ ...NEWS, phone: "5511987652012", userId: 1 }, "userId"],
  ])("is rejected with the wrong field: %j", async (body, field) => {
    const { headers } = await signIn(test.url, { email: "boss@other.example" });
    const response = await request("POST /api/data/consent", body, headers);
    expect([response.status, response.body.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(response.body.details.fields[0].field).toBe(field);
  });
});
