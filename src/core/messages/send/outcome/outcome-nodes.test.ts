import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  startTestGateway,
  type TestGateway,
  type TestInstance,
  waitUntil,
} from "../../../../../test/gateway.ts";
import { type Client, createClient } from "../../../../client/client.ts";
import type { Engine } from "../../../../engine/engine.ts";

const SETTINGS = {
  WAYGATE_NODE_URL: "http://127.0.0.1:1",
  WAYGATE_CLUSTER_SECRET: randomBytes(32).toString("base64"),
};
const NUMBER = "5511999990011";

describe("the outcome of a send", () => {
  let gateway: TestGateway;
  let shop: TestInstance;
  let elsewhere: Client;
  let engines: Record<"owner" | "caller" | "third", Engine>;
  let outcomes: string[] = [];
  let marks: string[] = [];

  beforeAll(async () => {
    gateway = await startTestGateway(SETTINGS);
    shop = await gateway.connectInstance();
    const [caller, third] = [await addApiNode(), await addApiNode()];
    elsewhere = createClient({ baseUrl: caller.url, apiKey: shop.api_key });
    engines = { owner: gateway.gateway.engine, caller: caller.engine, third: third.engine };
    for (const [name, engine] of Object.entries(engines)) {
      engine.subscribe("outcome", (key) => outcomes.push(`${name} ${key}`));
      engine.subscribe("mark", () => marks.push(name));
      await waitUntil(() => engine.countLiveNodes("api") === 3);
    }
  });
  afterAll(() => gateway.stop());
  beforeEach(() => {
    outcomes = [];
  });

  const addApiNode = () => gateway.addNode({ ...SETTINGS, WAYGATE_ROLES: "api" });

  /** The nodes' received notifications, up to one that the owner published last. */
  async function received(): Promise<string[]> {
    marks = [];
    engines.owner.publish("mark", "1");
    await waitUntil(() => marks.length === 3);
    return outcomes.toSorted();
  }

  test("reaches only the node of the session and the node whose caller waits", async () => {
    const { data } = await elsewhere.sendText({ id: shop.id, number: NUMBER, text: "From elsewhere" });
    expect(await received()).toEqual([`caller ${data.id}`, `owner ${data.id}`]);
  });

  test("reaches no other node if the caller waits at the node of the session", async () => {
    const { data } = await shop.client.sendText({ id: shop.id, number: NUMBER, text: "From here" });
    expect(await received()).toEqual([`owner ${data.id}`]);
  });

  test("reaches no other node if no caller waits", async () => {
    const text = { id: shop.id, number: NUMBER, text: "Later", async: true };
    const { data } = await elsewhere.sendText(text);
    const id = "message" in data && data.message?.id;
    await waitUntil(() => outcomes.includes(`owner ${id}`));
    expect(await received()).toEqual([`owner ${id}`]);
  });
});
