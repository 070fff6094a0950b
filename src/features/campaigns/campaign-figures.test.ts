import { afterAll, beforeAll, expect, test } from "vitest";
import {
  newPhone,
  startTestGateway,
  type TestGateway,
  type TestInstance,
  waitUntil,
} from "../../../test/gateway.ts";
import type { Client } from "../../client/client.ts";

let gateway: TestGateway;
let shop: TestInstance;
let owner: Client;

beforeAll(async () => {
  gateway = await startTestGateway();
  shop = await gateway.connectInstance();
  owner = gateway.owner;
});
afterAll(() => gateway.stop());

test("a check of recipients names each problem by its position, and stores nothing", async () => {
  const [good, again, gone] = [newPhone(), newPhone(), newPhone()];
  const { data: lead } = await owner.createLead({ phone: gone, opted_out: true });
  const { data: nameless } = await owner.createLead({ name: "No phone" });
  const recipients = [good, { phone: again, variables: { name: "Ana" } }, "12", again, { name: "Leo" }];
  const { data } = await owner.checkRecipients({ recipients, lead_ids: [lead.id, nameless.id] });
  expect(data).toMatchObject({
    total: 7,
    ready: 2,
    counts: { invalid: 3, duplicate: 1, opted_out: 1, no_consent: 0 },
  });
  expect(data.problems.map(({ index, problem }) => [index, problem])).toEqual([
    [2, "invalid"],
    [3, "duplicate"],
    [4, "invalid"],
    [5, "opted_out"],
    [6, "invalid"],
  ]);
  expect(data.problems[4]?.reason).toBe("has no phone");
  expect((await owner.listCampaigns()).data).toEqual([]);
});

test("a check of recipients counts people without consent to the purpose", async () => {
  const [agreed, other] = [newPhone(), newPhone()];
  await owner.recordConsent({ phone: agreed, purpose: "offers", consent_type: "opt_in", granted: true });
  const { data } = await owner.checkRecipients({ recipients: [agreed, other], consent_purpose: "offers" });
  expect(data.problems).toEqual([{ index: 1, value: other, problem: "no_consent", reason: null }]);
});

test("the timeline of a campaign agrees with its totals, and names why recipients were skipped", async () => {
  const gone = newPhone();
  await owner.createLead({ phone: gone, opted_out: true });
  const { data: campaign } = await owner.createCampaign({
    name: "Spring",
    instance_id: shop.id,
    message_template: "Hello",
    min_delay_ms: 0,
    max_delay_ms: 0,
  });
  const { id } = campaign;
  await owner.addRecipients({ id, numbers: [newPhone(), newPhone(), gone] });
  expect((await owner.getCampaignTimeline({ id })).data).toEqual({
    step: "minute",
    points: [],
    reasons: [{ status: "skipped", reason: "opted_out", count: 1 }],
  });
  await owner.startCampaign({ id });
  await waitUntil(async () => (await owner.getCampaign({ id })).data.totals.read === 2);
  const { data } = await owner.getCampaignTimeline({ id });
  const sumOf = (name: "sent" | "delivered" | "read" | "failed") =>
    data.points.reduce((sum, point) => sum + point[name], 0);
  expect([sumOf("sent"), sumOf("delivered"), sumOf("read"), sumOf("failed")]).toEqual([2, 2, 2, 0]);
  expect(data.points.every(({ at }) => at.endsWith(":00.000Z"))).toBe(true);
});

test("the labels of leads are counted for one account, the most used first", async () => {
  await owner.createLead({ name: "Bia", kanban_status: "Talking", tags: ["vip", "shop"] });
  await owner.createLead({ name: "Caio", kanban_status: "Won", tags: ["vip"] });
  await owner.createLead({ name: "Duda", kanban_status: "Talking" });
  const { data } = await owner.listLeadLabels();
  expect(data.stages).toEqual([
    { name: "Talking", count: 2 },
    { name: "Won", count: 1 },
  ]);
  expect(data.tags).toEqual([
    { name: "vip", count: 2 },
    { name: "shop", count: 1 },
  ]);
});
