import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packWorkspace } from "../run/installed-packages.ts";
import { makeScratchDir, type ScratchDir } from "../run/scratch-dir.ts";
import { startLocalServer } from "../servers/local-server.ts";
import {
  type IntegrationStory,
  newPerson,
  startIntegrationStory,
  waitUntil,
} from "../stories/integration-story.ts";
import { installN8n, runsHere, VERSIONS } from "./install.ts";
import { openN8n, type RealN8n } from "./real-n8n.ts";

interface ChatRequest {
  messages: { role: string; content?: unknown }[];
  tools?: { function: { name: string; parameters: unknown } }[];
}

/** An OpenAI-compatible model that calls the first tool once and then ends. */
interface FakeChatModel {
  readonly url: string;
  readonly requests: ChatRequest[];
  stop(): Promise<void>;
}

async function startFakeChatModel(toolInput: Record<string, unknown>): Promise<FakeChatModel> {
  const requests: ChatRequest[] = [];
  const { url, shut } = await startLocalServer(async (request, response) => {
    const asked = (await json(request)) as ChatRequest;
    requests.push(asked);
    const name = asked.tools?.[0]?.function.name;
    const isDone = asked.messages.some(({ role }) => role === "tool");
    const call = { id: "call_1", type: "function", function: { name, arguments: JSON.stringify(toolInput) } };
    const message = isDone
      ? { role: "assistant", content: "I have sent it." }
      : { role: "assistant", content: null, tool_calls: [call] };
    const choice = { index: 0, message, finish_reason: isDone ? "stop" : "tool_calls" };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const reply = {
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "fake",
      choices: [choice],
      usage,
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(reply));
  });
  return { url: `${url}/v1`, requests, stop: shut };
}

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Unknown in the sandbox. */
const NOBODY = "5511999990000";

const NODE = "n8n-nodes-waygate.waygate";
const FROM_TRIGGER = "$('Waygate Trigger').item.json.data.message";

interface WorkflowNode {
  name: string;
  type: string;
  typeVersion: number;
  parameters: Record<string, unknown>;
  [field: string]: unknown;
}

/** Connects nodes in sequence. */
function chain(name: string, nodes: readonly WorkflowNode[]) {
  const edges = nodes
    .slice(1)
    .map((node, at) => [nodes[at]?.name ?? "", { main: [[{ node: node.name, type: "main", index: 0 }]] }]);
  return { name, nodes, connections: Object.fromEntries(edges), settings: { executionOrder: "v1" } };
}

describe.each(VERSIONS)("the node in n8n %s", (version) => {
  let story: IntegrationStory;
  let n8n: RealN8n;
  let scratch: ScratchDir;
  let credentials: { waygateApi: { id: string; name: string } };
  let isHere = false;
  let data: Record<string, string>;

  beforeAll(async () => {
    isHere = await runsHere(version);
    if (!isHere) return;
    scratch = await makeScratchDir();
    const { path } = await packWorkspace("n8n-nodes-waygate", scratch.path);
    story = await startIntegrationStory();
    n8n = await openN8n(await installN8n(version));
    await n8n.installNode(path);
    await n8n.start();
    // With the trailing slash that a copied address has.
    const { shop, gateway } = story;
    data = { baseUrl: `${gateway.url}/`, instanceId: String(shop.id), apiKey: shop.api_key };
    const saved = { name: "Shop", type: "waygateApi", data };
    const { id, name } = await n8n.request("POST", "/credentials", saved);
    credentials = { waygateApi: { id, name } };
  });
  afterAll(async () => {
    await story?.stop();
    await n8n?.stop();
    await scratch?.remove();
  });

  /** Skipped with a reason if this Node version cannot run this n8n. */
  function testIfRunnable(title: string, run: () => Promise<void>): void {
    test(title, async (context) => {
      if (!isHere) context.skip(`n8n ${version} does not run on Node ${process.version}`);
      await run();
    });
  }

  const node = (name: string, type: string, typeVersion: number, parameters: Record<string, unknown>) => ({
    id: crypto.randomUUID(),
    name,
    type,
    typeVersion,
    position: [0, 0],
    parameters,
    ...(type.startsWith("n8n-nodes-waygate.") && { credentials }),
    ...(type.endsWith("Trigger") && { webhookId: crypto.randomUUID() }),
  });
  const trigger = (parameters: Record<string, unknown> = {}) =>
    node("Waygate Trigger", "n8n-nodes-waygate.waygateTrigger", 1, parameters);
  const waygate = (name: string, parameters: Record<string, unknown>) => node(name, NODE, 1, parameters);

  /** Saves and activates a workflow. Returns its id. */
  async function run(
    name: string,
    nodes: readonly WorkflowNode[],
    beside: { nodes: readonly WorkflowNode[]; connections: object } = { nodes: [], connections: {} },
  ): Promise<string> {
    const workflow = chain(name, nodes);
    const { id } = await n8n.request("POST", "/workflows", {
      ...workflow,
      nodes: [...nodes, ...beside.nodes],
      connections: { ...workflow.connections, ...beside.connections },
    });
    await n8n.activate(id);
    await waitUntil(async () => (await webhooks()).length === 1);
    return id;
  }

  async function end(id: string): Promise<void> {
    await n8n.deactivate(id);
    await waitUntil(async () => (await webhooks()).length === 0);
  }

  async function webhooks() {
    const { data: listed } = await story.shop.client.listWebhooks({ id: story.shop.id });
    return listed.filter(({ url }) => url.startsWith(n8n.url));
  }

  async function testCredential(changed: Record<string, string> = {}) {
    const tested = { ...credentials.waygateApi, type: "waygateApi", data: { ...data, ...changed } };
    return n8n.request("POST", "/credentials/test", { credentials: tested });
  }

  /** The last execution of a workflow, once it has this status. */
  async function lastExecution(workflowId: string, status: string): Promise<{ id: string; text: string }> {
    await waitUntil(async () => (await n8n.executions(workflowId))[0] === status);
    const filter = encodeURIComponent(JSON.stringify({ workflowId }));
    const { results } = await n8n.request("GET", `/executions?filter=${filter}&limit=1`);
    const { id, data: text } = await n8n.request("GET", `/executions/${results[0].id}`);
    return { id, text };
  }

  testIfRunnable("has a credential that is tested with the instance", async () => {
    expect(await testCredential()).toMatchObject({ status: "OK" });
    expect(await testCredential({ apiKey: "wg_wrong" })).toMatchObject({ status: "Error" });
    expect(await testCredential({ instanceId: "4711" })).toMatchObject({ status: "Error" });
  });

  testIfRunnable("is listed with its trigger, and as a tool for AI agents", async () => {
    const response = await fetch(`${n8n.url}/types/nodes.json`, {
      headers: { cookie: await n8n.signedInCookie() },
    });
    const types = ((await response.json()) as { name: string }[]).map(({ name }) => name);
    expect(types.filter((name) => name.startsWith("n8n-nodes-waygate.")).sort()).toEqual([
      "n8n-nodes-waygate.waygate",
      "n8n-nodes-waygate.waygateTool",
      "n8n-nodes-waygate.waygateTrigger",
    ]);
  });

  testIfRunnable("answers a message, from the activation to the deactivation", async () => {
    const id = await run("Answer", [
      trigger({ events: ["message.received", "call.received"], exclude: ["groups"] }),
      waygate("Reply", {
        number: "={{ $json.data.message.jid }}",
        text: "=You wrote: {{ $json.data.message.text }}",
        additionalFields: { reply_to: "={{ $json.data.message.message_id }}", track_id: "n8n" },
      }),
    ]);
    const [webhook] = await webhooks();
    expect(webhook).toMatchObject({
      name: "n8n: Answer",
      events: ["message.received", "call.received"],
      exclude: ["groups"],
      is_active: true,
    });
    const ana = newPerson();
    await story.receive(ana, "olá, você");
    expect(await story.receivedBy(ana, 1)).toEqual(["You wrote: olá, você"]);
    expect((await lastExecution(id, "success")).text).toContain('"sent"');

    const forged = { method: "POST", headers: { "content-type": "application/json" }, body: '{"event":"x"}' };
    const refused = await fetch(webhook?.url ?? "", forged);
    expect([refused.status, await refused.json()]).toEqual([
      401,
      { message: "The signature is missing, wrong or too old." },
    ]);
    // The gateway sends a signed test event, which the node does not subscribe to.
    const { data: tested } = await story.shop.client.testWebhook({
      id: story.shop.id,
      webhookId: webhook?.id ?? 0,
    });
    expect(tested).toMatchObject({ success: true, status_code: 200 });
    expect(await n8n.executions(id)).toHaveLength(1);

    await end(id);
  });

  testIfRunnable("downloads the file of a message and sends it back", async () => {
    const id = await run("File", [
      trigger(),
      waygate("Download", { operation: "downloadFile", message_id: "={{ $json.data.message.message_id }}" }),
      waygate("Send back", {
        operation: "sendMedia",
        number: `={{ ${FROM_TRIGGER}.jid }}`,
        caption: "={{ $json.mime_type }} of {{ $json.size }} bytes",
      }),
    ]);
    const ana = newPerson();
    await story.receive(ana, "", { media: { base64: PNG, mime_type: "image/png", caption: "look" } });
    const size = Buffer.from(PNG, "base64").length;
    expect(await story.receivedBy(ana, 1)).toEqual([`image/png of ${size} bytes`]);
    const { data: chat } = await story.shop.client.listChatMessages({ id: story.shop.id, jid: ana });
    expect(chat[0]).toMatchObject({
      direction: "outbound",
      type: "image",
      media: { mime_type: "image/png" },
    });
    await end(id);
  });

  const twoPeople = (ana: string, send: WorkflowNode) => [
    trigger(),
    node("People", "n8n-nodes-base.set", 3.4, {
      mode: "raw",
      jsonOutput: JSON.stringify({ people: [{ to: ana }, { to: NOBODY }] }),
      options: {},
    }),
    node("Split", "n8n-nodes-base.splitOut", 1, { fieldToSplitOut: "people", options: {} }),
    send,
  ];

  testIfRunnable("sends nothing twice when a failed execution is retried", async () => {
    const ana = newPerson();
    const send = waygate("Send", { number: "={{ $json.to }}", text: "Your order has left." });
    const id = await run("Two people", twoPeople(ana, send));
    await story.receive(newPerson(), "go");
    const failed = await lastExecution(id, "error");
    expect(failed.text).toContain("The number is not on the network.");
    expect(await story.receivedSoFar(ana)).toEqual(["Your order has left."]);
    await n8n.request("POST", `/executions/${failed.id}/retry`, { loadWorkflow: true });
    await waitUntil(async () => (await n8n.executions(id)).length === 2);
    const retried = await lastExecution(id, "error");
    expect(retried.id).not.toBe(failed.id);
    await story.waitUntilIdle();
    expect(await story.receivedSoFar(ana)).toEqual(["Your order has left."]);
    await end(id);
  });

  testIfRunnable("goes on after an error, with the sentence of the gateway in its item", async () => {
    const ana = newPerson();
    const send = waygate("Send", { number: "={{ $json.to }}", text: "Hello" });
    const id = await run("On error", twoPeople(ana, { ...send, onError: "continueRegularOutput" }));
    await story.receive(newPerson(), "go");
    const { text } = await lastExecution(id, "success");
    expect(text).toContain("The number is not on the network.");
    expect(await story.receivedBy(ana, 1)).toEqual(["Hello"]);
    await end(id);
  });

  testIfRunnable("sends a text as the tool of an AI agent", async () => {
    const ana = newPerson();
    const model = await startFakeChatModel({ To: ana, Text: "From your assistant" });
    try {
      const openAi = await n8n.request("POST", "/credentials", {
        name: "Model",
        type: "openAiApi",
        data: { apiKey: "none", url: model.url },
      });
      const agent = node("AI Agent", "@n8n/n8n-nodes-langchain.agent", 2.2, {
        promptType: "define",
        text: "={{ $json.data.message.text }}",
        options: {},
      });
      const chatModel = {
        ...node("Model", "@n8n/n8n-nodes-langchain.lmChatOpenAi", 1.2, {
          model: { __rl: true, mode: "id", value: "fake" },
          options: {},
        }),
        credentials: { openAiApi: { id: openAi.id, name: openAi.name } },
      };
      const tool = node("Send a text", "n8n-nodes-waygate.waygateTool", 1, {
        number: "={{ $fromAI('To', 'Phone number', 'string') }}",
        text: "={{ $fromAI('Text', 'The text', 'string') }}",
      });
      const to = (type: string) => ({ [type]: [[{ node: "AI Agent", type, index: 0 }]] });
      const id = await run("Agent", [trigger(), agent], {
        nodes: [chatModel, tool],
        connections: { Model: to("ai_languageModel"), "Send a text": to("ai_tool") },
      });
      await story.receive(newPerson(), "Tell Ana, please");
      expect(await story.receivedBy(ana, 1)).toEqual(["From your assistant"]);
      expect((await lastExecution(id, "success")).text).toContain("I have sent it.");
      expect(model.requests).toHaveLength(2);
      await end(id);
    } finally {
      await model.stop();
    }
  });
});
