import { randomBytes } from "node:crypto";
import { createClient } from "../../../src/client/client.ts";
import { freePortsFor } from "../../../src/platform/embedded-postgres/free-ports-for.ts";
import type { E2eStory, PairedInstance } from "../../e2e/e2e-story.ts";
import type { ClientSend } from "../../e2e/ledgers.ts";
import { receiveTexts } from "../../e2e/ledgers.ts";
import { planSends, readStoryLedgers, sendAll, toClientSends } from "../../e2e/send-history.ts";
import { waitUntil } from "../../gateway.ts";
import { makeScratchDir } from "../../run/scratch-dir.ts";
import type { SpawnedGateway } from "../../run/spawn-gateway.ts";
import type { ChaosRow, Round } from "../chaos-row.ts";
import { IN_FLIGHT, toRoundFigures } from "../report.ts";

const SOMEBODY = "5511999990011";
const TEXTS = 24;

export const n3: ChaosRow = {
  id: "N3",
  fault:
    "three nodes: any answers anything, a stream on any hears all, kill -9 of the session's owner, which then joins again",
  async run(round) {
    const story = await round.story();
    const nodes = await startNodes(round, story);
    const instance = await story.pair();
    const asked: ClientSend[] = [];
    const findSilent = (some: readonly SpawnedGateway[]) => askEach(some, instance, asked);
    const breaches = await findSilent(nodes);
    const owner = await findOwner(story, nodes);
    const others = nodes.filter((node) => node !== owner);
    const streams = others.map((node) => followEvents(round, node, instance));
    const sending = sendAll(story, instance, planSends("three", 120, 12));
    await waitUntil(() => story.receiver.of("message.sent").length > 10, 60_000);
    const says = receiveTexts(story, instance, "meanwhile", TEXTS);
    const before = await ownerOf(story);
    await owner.kill();
    const killedAt = performance.now();
    await waitUntil(async () => (await ownerOf(story)) !== before, 60_000);
    const takeOverSeconds = (performance.now() - killedAt) / 1000;
    const joining = sendAll(story, instance, planSends("joined", 120, 12));
    const again = await owner.again();
    says.push(...receiveTexts(story, instance, "joined", TEXTS));
    const accepted = [...(await sending), ...(await joining)];
    breaches.push(...(await findSilent([...others, again])));
    const ledgers = await readStoryLedgers(story, { sends: [...toClientSends(accepted), ...asked], says });
    const outcomes = ledgers.events.filter(({ event }) => event === "message.sent");
    for (const heard of streams) {
      const missing = () => outcomes.filter(({ event_id }) => !heard().includes(event_id));
      await waitUntil(() => missing().length === 0, 120_000).catch(() => {
        breaches.push(`a stream did not hear ${missing().length} of ${outcomes.length} events`);
      });
    }
    const figures = toRoundFigures(ledgers, { ...IN_FLIGHT, kills: 1 });
    return { ...figures, takeOverSeconds, breaches: [...figures.breaches, ...breaches] };
  },
};

interface Node extends SpawnedGateway {
  /** Restarts it with the same port and settings. */
  again(): Promise<SpawnedGateway>;
}

/** The story calls the last node, which owns no session. */
async function startNodes(round: Round, story: E2eStory): Promise<Node[]> {
  const WAYGATE_CLUSTER_SECRET = randomBytes(32).toString("base64");
  const nodes: Node[] = [];
  for await (const port of freePortsFor(`three-nodes ${process.pid} ${round.random.next()}`)) {
    const { path: WAYGATE_DATA_DIR, remove } = await makeScratchDir("waygate-e2e-");
    round.afterwards(remove);
    const settings: Record<string, string> = {
      WAYGATE_DATA_DIR,
      WAYGATE_CLUSTER_SECRET,
      WAYGATE_PORT: String(port),
      WAYGATE_NODE_URL: `http://127.0.0.1:${port}`,
      ...(nodes.length === 2 && { WAYGATE_ROLES: "api" }),
    };
    nodes.push({ ...(await story.start(settings)), again: () => story.start(settings) });
    if (nodes.length === 3) return nodes;
  }
  throw new Error("there are no free ports");
}

/** Calls each node for a row, a session operation, and a send with its outcome. */
async function askEach(
  nodes: readonly SpawnedGateway[],
  { id, api_key }: PairedInstance,
  asked: ClientSend[],
): Promise<string[]> {
  const silent: string[] = [];
  for (const { url } of nodes) {
    const client = createClient({ baseUrl: url, apiKey: api_key });
    const record = (what: string) => (error: unknown) => void silent.push(`${what}: ${error}`);
    await client.getInstanceStatus({ id }).catch(record("status"));
    await client.checkContacts({ id, numbers: [SOMEBODY], refresh: true }).catch(record("check"));
    const text = `asked-${asked.length}`;
    asked.push({ key: text, chat: SOMEBODY, known: "unknown" });
    await client.sendText({ id, number: SOMEBODY, text }).catch(record("send"));
  }
  return silent;
}

async function ownerOf(story: E2eStory): Promise<string | undefined> {
  const [lane] = await story.rows<{ owner: string }>("select owner from lane where kind = 'session'");
  return lane?.owner;
}

async function findOwner(story: E2eStory, nodes: readonly Node[]): Promise<Node> {
  const [row] = await story.rows<{ url: string }>(
    "select n.url from lane l join node n on n.id = l.owner where l.kind = 'session'",
  );
  const owner = nodes.find(({ url }) => row?.url.startsWith(url));
  if (!owner) throw new Error(`nobody listens at ${row?.url}`);
  return owner;
}

/** Follows the event stream of an instance until the round ends. Returns the event ids so far. */
function followEvents(
  round: Round,
  { url }: SpawnedGateway,
  { id, api_key }: PairedInstance,
): () => string[] {
  const input = new AbortController();
  round.afterwards(() => input.abort());
  let output = "";
  const read = async (): Promise<void> => {
    // Starts at the first event.
    const headers = { "x-api-key": api_key, "last-event-id": "0" };
    const path = `/api/v1/instances/${id}/events/stream`;
    const { body } = await fetch(`${url}${path}`, { headers, signal: input.signal });
    const decoder = new TextDecoder();
    for await (const part of body ?? []) output += decoder.decode(part as Uint8Array, { stream: true });
  };
  read().catch(() => {});
  return () => [...output.matchAll(/"event_id":"([^"]+)"/g)].map(([, event]) => event ?? "");
}
