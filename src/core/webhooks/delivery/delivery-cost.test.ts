import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance } from "../../../../test/gateway.ts";
import { type Receiver, startReceiver } from "../../../../test/servers/receiver.ts";
import { expectAtMost, type StatementMeter, startStatementMeter } from "../../../../test/statement-meter.ts";
import {
  createDeliveryStory,
  type DeliveryStory,
  type DeliveryWorker,
} from "../../../../test/stories/engine/delivery-story.ts";
import { type InstanceSnapshot, recordEvents } from "../../events/events.ts";

describe("an event that another node has recorded for a webhook of this node", () => {
  let gateway: TestGateway;
  let receiver: Receiver;
  let instance: TestInstance;
  let meter: StatementMeter;
  let count = 0;

  beforeAll(async () => {
    receiver = await startReceiver();
    gateway = await startTestGateway();
    instance = await gateway.connectInstance({ webhook_url: receiver.url });
    receiver.trust(instance.webhook_secret);
    for (let n = 0; n < 3; n++) await deliver();
    meter = startStatementMeter(gateway.database.url);
  });

  afterAll(async () => {
    meter?.stop();
    await receiver?.close();
    await gateway?.stop();
  });

  async function deliver(): Promise<void> {
    count += 1;
    const draft = {
      event: "message.received",
      instance_id: instance.id,
      chat: "5511999990004@s.whatsapp.net",
      data: { count },
    } as const;
    const lanes = await gateway.database.db.transaction().execute((trx) => recordEvents(trx, [draft]));
    gateway.gateway.engine.wake(lanes);
    const own = count;
    await receiver.waitFor(({ body }) => body.data.count === own);
  }

  test("costs no statement and no commit beyond its budget", async () => {
    const cost = await meter.measure(8, deliver);
    expect(cost.statements.length).toBeGreaterThan(0);
    expectAtMost(cost, { statements: 3, transactions: 3, commits: 1 });
  });
});

describe("an event that this node records for a webhook of its own", () => {
  let story: DeliveryStory;
  let receiver: Receiver;
  let worker: DeliveryWorker;
  let instance: InstanceSnapshot;
  let meter: StatementMeter;
  let count = 0;

  beforeAll(async () => {
    receiver = await startReceiver();
    story = await createDeliveryStory();
    worker = await story.startWorker("worker");
    const added = await story.addInstance();
    instance = { ...added, name: "i", phone: null, metadata: {} };
    await story.addWebhook(added, { url: receiver.url });
    for (let n = 0; n < 3; n++) await deliver();
    meter = startStatementMeter(story.url);
  });

  afterAll(async () => {
    meter?.stop();
    await story?.close();
    await receiver?.close();
  });

  async function deliver(): Promise<void> {
    count += 1;
    const chat = "5511999990004@s.whatsapp.net";
    const draft = {
      event: "message.received",
      instance_id: instance.id,
      chat,
      instance,
      data: { count },
    } as const;
    await worker.record(draft);
    const own = count;
    await receiver.waitFor(({ body }) => body.data.count === own);
  }

  test("costs one statement and one commit for the event, and one of each for the delivery", async () => {
    const cost = await meter.measure(8, deliver);
    expect(cost.statements.length).toBeGreaterThan(0);
    expectAtMost(cost, { statements: 2, transactions: 2, commits: 2 });
  });
});
