import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { freePortsFor } from "../../src/platform/embedded-postgres/free-ports-for.ts";
import { waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { FakeChatwoot } from "../servers/fake-chatwoot.ts";
import { createE2eStory, type E2eStory, type PairedInstance } from "./e2e-story.ts";

beforeAll(buildDist);

const PEOPLE = Array.from({ length: 6 }, (_, n) => `552197777012${n}`);

describe("an inbox whose gateway is killed", () => {
  const chatwoot = new FakeChatwoot();
  let story: E2eStory;
  let instance: PairedInstance;

  beforeAll(async () => {
    await chatwoot.start();
    const port = String((await freePortsFor(`chatwoot crash ${process.pid}`).next()).value);
    story = await createE2eStory({
      WAYGATE_PORT: port,
      WAYGATE_BASE_URL: `http://127.0.0.1:${port}`,
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
    await chatwoot.stop();
  });

  /** One text from each contact. */
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
    // No receipt resolves an unknown outcome, as if the phones were off.
    await story.rows("delete from sandbox.inbox where kind = 'status'");
    await story.start();
    // The agent sends all of them again, also those that the dying gateway accepted without a response.
    await chatwoot.settled();
    for (const answer of responses) chatwoot.retry(answer);
    await waitUntil(async () => (await arrived(point)).size >= responses.length, 60_000);
    await chatwoot.settled();
    await story.drained();
    const messages = await arrived(point);
    // A send with an unknown outcome is repeated under its own id, which a phone shows once.
    expect(Object.fromEntries(messages)).toEqual(
      Object.fromEntries(responses.map(({ content }) => [content, [expect.any(String)]])),
    );
  });

  /** The ids with which each text of an agent that begins so has reached the network. */
  async function arrived(beginning: string): Promise<Map<string, string[]>> {
    const sent = `select content ->> 'text' as text, array_agg(distinct message_id) as ids from sandbox.ledger
      where action = 'send' and outcome = 'accepted' and starts_with(content ->> 'text', $1) group by 1`;
    const rows = await story.rows<{ text: string; ids: string[] }>(sent, beginning);
    return new Map(rows.map(({ text, ids }) => [text, ids]));
  }
});
