import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { FakeChatwoot } from "../servers/fake-chatwoot.ts";
import { type N8nServer, startN8n } from "../servers/n8n-server.ts";
import { type StableAddress, startStableAddress } from "../servers/stable-address.ts";
import { ask, bubble, startTypebot, type TypebotServer } from "../servers/typebot-server.ts";
import { newPerson } from "../stories/integration-story.ts";
import { createE2eStory, type E2eStory, type PairedInstance } from "./e2e-story.ts";

beforeAll(buildDist);

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const PICTURE: Said = { media: { base64: PNG, mime_type: "image/png" } };

interface Said {
  media: { base64: string; mime_type: string };
}

describe("a gateway that is killed between a provider's action and its own commit", () => {
  let story: E2eStory;
  let n8n: N8nServer;
  let typebot: TypebotServer;
  let instance: PairedInstance;

  beforeAll(async () => {
    [story, n8n, typebot] = await Promise.all([createE2eStory(), startN8n(), startTypebot()]);
    await story.start({ WAYGATE_ALLOWED_HOSTS: "loopback" });
    instance = await story.pair();
  });
  afterAll(async () => {
    await story.end();
    await Promise.all([n8n.shut(), typebot.shut()]);
  });

  /** Restarts with a fault point, lets a contact write, and restarts again after the crash. */
  async function dieOver(point: string, from: string, ...said: (string | Said)[]): Promise<void> {
    // A send without a recorded outcome is repeated after a kill.
    await story.drained();
    await story.gateway.kill();
    const { exited } = await begin({ WAYGATE_FAULT_POINT: point });
    await receive(from, ...said);
    expect(await exited).toMatchObject({ signal: "SIGKILL" });
    await begin();
  }

  async function receive(from: string, ...said: (string | Said)[]): Promise<void> {
    for (const one of said)
      await story
        .clientOf(instance)
        .sandboxReceive({ id: instance.id, from, ...(typeof one === "string" ? { text: one } : one) });
  }

  /** Waits until this process is connected, because earlier messages are too old to start a bot. */
  async function begin(settings = {}) {
    const connectedAt = async () =>
      (
        await story.rows<{ connected_at: Date }>("select connected_at from instance")
      )[0]?.connected_at.getTime();
    const before = await connectedAt();
    const started = await story.start({ WAYGATE_ALLOWED_HOSTS: "loopback", ...settings });
    await waitUntil(async () => (await connectedAt()) !== before);
    return started;
  }

  async function receivedBy(by: string): Promise<string[]> {
    const rows = await story.rows<{ text: string }>(
      `select content ->> 'text' as text from sandbox.ledger where action = 'send' and chat = $1 order by id`,
      `${by}@s.whatsapp.net`,
    );
    return rows.map(({ text }) => text);
  }

  test("sends the event to n8n again under the same event id, and sends the response once", async () => {
    n8n.activate("in", { respond: "lastNode", output: { output: "hello" } });
    const config = { webhook_url: `${n8n.url}/webhook/in`, reply_mode: "response" };
    await story.clientOf(instance).saveIntegration({ id: instance.id, provider: "n8n", config });
    const ana = newPerson();
    await dieOver("n8n:after-response", ana, "hi");
    await waitUntil(async () => (await receivedBy(ana)).length > 0);
    await story.drained();
    expect(await receivedBy(ana)).toEqual(["hello"]);
    const ids = n8n.executions.map(({ headers }) => headers["x-waygate-event-id"]);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
    await story.clientOf(instance).deleteIntegration({ id: instance.id, provider: "n8n" });
  });

  test("does not send a message to Typebot again during a flow, and repeats a start", async () => {
    typebot.publish("shop", [
      bubble("a", "one"),
      ask("x"),
      bubble("b", "two"),
      ask("y"),
      bubble("c", "three"),
      ask("z"),
    ]);
    const config = { base_url: typebot.url, public_id: "shop" };
    await story.clientOf(instance).saveIntegration({ id: instance.id, provider: "typebot", config });
    const ana = newPerson();
    await dieOver("typebot:after-response", ana, "start");
    await waitUntil(async () => (await receivedBy(ana)).length === 1);
    expect(typebot.inputs()).toEqual(["start", "start"]);
    await dieOver("typebot:after-response", ana, "lost");
    await story.drained();
    expect(typebot.inputs()).toEqual(["start", "start", "lost"]);
    await story.clientOf(instance).sandboxReceive({ id: instance.id, from: ana, text: "next" });
    await waitUntil(async () => (await receivedBy(ana)).length === 2);
    expect(await receivedBy(ana)).toEqual(["one", "three"]);
    const { data } = await story.clientOf(instance).getIntegration({ id: instance.id, provider: "typebot" });
    expect(data.last_error).toMatch(/response was lost/);
  });

  describe("while several messages are sent to Typebot as one", () => {
    const config = () => ({ base_url: typebot.url, public_id: "gathering", debounce_ms: 3_000 });

    beforeAll(async () => {
      typebot.publish("gathering", [
        bubble("a", "one"),
        ask("x"),
        bubble("b", "photos?"),
        ask("f", "file input", { isMultipleAllowed: true }),
        bubble("c", "three"),
        ask("y"),
        bubble("d", "four"),
        ask("z"),
      ]);
      const provider = "typebot" as const;
      await story.clientOf(instance).saveIntegration({ id: instance.id, provider, config: config() });
    });

    /** A flow that waits at its file input. */
    async function openFlow(): Promise<string> {
      const ana = newPerson();
      for (const [at, text] of ["hi", "Ana"].entries()) {
        await receive(ana, text);
        await waitUntil(async () => (await receivedBy(ana)).length === at + 1);
      }
      typebot.reset();
      return ana;
    }

    const albums = () => typebot.inputs().map((text) => text?.split(", ").length);

    test("sends all of them once, when it was killed while it waited for more", async () => {
      const ana = await openFlow();
      await receive(ana, PICTURE, PICTURE);
      await waitUntil(async () => (await waiting()) === 2);
      await killAndStart();
      await waitUntil(async () => (await receivedBy(ana)).length === 3);
      await story.drained();
      expect(albums()).toEqual([2]);
      expect(await receivedBy(ana)).toEqual(["one", "photos?\n\n📎", "three"]);
    });

    test("sends none again when it was killed during the response, and loses no later message", async () => {
      const ana = await openFlow();
      await dieOver("typebot:after-response", ana, PICTURE, PICTURE);
      await receive(ana, "next");
      await waitUntil(async () => (await receivedBy(ana)).length === 3);
      await story.drained();
      expect(typebot.inputs()).toEqual([expect.stringContaining(", "), "next"]);
      expect(await receivedBy(ana)).toEqual(["one", "photos?\n\n📎", "four"]);
    });

    test("repeats a start with the complete text, once", async () => {
      const ana = newPerson();
      typebot.reset();
      await dieOver("typebot:after-response", ana, "hello", "anybody there?");
      await waitUntil(async () => (await receivedBy(ana)).length === 1);
      await story.drained();
      expect(typebot.inputs()).toEqual(["hello\nanybody there?", "hello\nanybody there?"]);
      expect(await receivedBy(ana)).toEqual(["one"]);
    });

    async function waiting(): Promise<number> {
      const { data } = await story
        .clientOf(instance)
        .getIntegration({ id: instance.id, provider: "typebot" });
      return data.waiting;
    }
  });

  /** Kills the gateway during its work. */
  async function killAndStart(): Promise<void> {
    await story.gateway.kill();
    await begin();
  }
});

const PEOPLE = Array.from({ length: 6 }, (_, n) => `552197777012${n}`);

describe("an inbox whose gateway is killed", () => {
  const chatwoot = new FakeChatwoot();
  let story: E2eStory;
  let address: StableAddress;
  let instance: PairedInstance;

  beforeAll(async () => {
    await chatwoot.start();
    address = await startStableAddress(() => story?.gateway.url);
    story = await createE2eStory({
      WAYGATE_BASE_URL: address.url,
      WAYGATE_ALLOWED_HOSTS: "external,private,loopback",
    });
    await story.start();
    instance = await story.pair();
    await story.clientOf(instance).saveIntegration({
      id: instance.id,
      provider: "chatwoot",
      config: {
        url: chatwoot.url,
        access_token: chatwoot.token,
        account_id: chatwoot.account_id,
        inbox_id: chatwoot.inbox.id,
      },
    });
    await story.drained();
    await story.gateway.kill();
  });
  afterEach(() => story.gateway.kill());
  afterAll(async () => {
    await story.end();
    address.close();
    await chatwoot.stop();
  });

  async function receiveFromAll(name: string): Promise<void> {
    const client = story.clientOf(instance);
    const texts = PEOPLE.map((from) => ({ id: instance.id, from, text: `${name} ${from}` }));
    await Promise.all(texts.map((text) => client.sandboxReceive(text).catch(() => {})));
  }

  test("between a post and its commit has every message in the inbox once afterwards", async () => {
    const point = "chatwoot:after-post";
    const killed = await story.start({ WAYGATE_FAULT_POINT: `${point}:3` });
    await receiveFromAll(point);
    expect((await killed.exited).signal).toBe("SIGKILL");
    await story.start();
    const texts =
      "select content ->> 'text' as text from message where instance_id = $1 and origin = 'contact'";
    const shown = () => chatwoot.messages.map(({ content }) => content ?? "").filter((one) => one !== "");
    await waitUntil(async () => {
      const stored = await story.rows<{ text: string }>(texts, instance.id);
      return stored.length > 0 && stored.every(({ text }) => shown().includes(text));
    }, 60_000);
    await story.drained();
    expect(shown().toSorted()).toEqual([...new Set(shown())].toSorted());
  });

  test.each([
    ["right after it took an answer", "chatwoot:after-accept:3"],
    ["while the network has an answer and its acknowledgement is not kept", "send:after-ack:2"],
  ])("%s sends every reply of an agent as one message", async (_, point) => {
    const killed = await story.start({ WAYGATE_FAULT_POINT: point });
    await waitUntil(() => story.isConnected(instance));
    const responses = chatwoot.conversations.map(({ id }) => chatwoot.write(id, `${point} to ${id}`));
    expect((await killed.exited).signal).toBe("SIGKILL");
    // Without receipts, as if the phones were off, nothing resolves an unknown outcome.
    await story.rows("delete from sandbox.inbox where kind = 'status'");
    await story.start();
    // The agent repeats all of them, also those that the dying gateway accepted without a response.
    await chatwoot.settled();
    for (const response of responses) chatwoot.retry(response);
    await waitUntil(async () => (await arrived(point)).size >= responses.length, 60_000);
    await chatwoot.settled();
    await story.drained();
    const messages = await arrived(point);
    // A send with an unknown outcome is repeated under its id, which a phone shows once.
    expect(Object.fromEntries(messages)).toEqual(
      Object.fromEntries(responses.map(({ content }) => [content, [expect.any(String)]])),
    );
  });

  /** The ids under which each agent text with this prefix reached the network. */
  async function arrived(beginning: string): Promise<Map<string, string[]>> {
    const sent = `select content ->> 'text' as text, array_agg(distinct message_id) as ids from sandbox.ledger
      where action = 'send' and outcome = 'accepted' and starts_with(content ->> 'text', $1) group by 1`;
    const rows = await story.rows<{ text: string; ids: string[] }>(sent, beginning);
    return new Map(rows.map(({ text, ids }) => [text, ids]));
  }
});
