import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../source-files.ts";
import {
  type IntegrationStory,
  newPerson,
  startIntegrationStory,
  waitUntil,
} from "../stories/integration-story.ts";
import { installN8n, runsHere, VERSIONS } from "./install.ts";
import { openN8n, type RealN8n, type WorkflowFile } from "./real-n8n.ts";

const WRITERS = 30;
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A workflow of the documentation with its Settings node filled in. */
function readyWorkflow(name: string, settings: Record<string, string>): WorkflowFile {
  const workflow = JSON.parse(
    readFileSync(join(ROOT, `docs/guides/n8n/${name}.json`), "utf8"),
  ) as WorkflowFile;
  const { parameters } = workflow.nodes.find((node) => node.name === "Settings") ?? {};
  const fields = parameters?.assignments as { assignments: { name: string; value: string }[] } | undefined;
  for (const field of fields?.assignments ?? []) field.value = settings[field.name] ?? field.value;
  return workflow;
}

/** The same workflow under another path. */
function moved(workflow: WorkflowFile, path: string, id: string): WorkflowFile {
  const nodes = workflow.nodes.map((node) => {
    const isHook = node.type === "n8n-nodes-base.webhook";
    return isHook ? { ...node, webhookId: `${id}-hook`, parameters: { ...node.parameters, path } } : node;
  });
  return { ...workflow, id, nodes };
}

/** A Webhook node that responds directly, or after a wait. */
function respondingWorkflow(id: string, path: string, body: string, waitSeconds = 0): WorkflowFile {
  const node = (name: string, type: string, typeVersion: number, parameters: Record<string, unknown>) => ({
    id: `${id}-${name}`,
    name,
    type: `n8n-nodes-base.${type}`,
    typeVersion,
    position: [0, 0],
    parameters,
    ...(type === "webhook" && { webhookId: `${id}-hook` }),
  });
  const names = ["Webhook", ...(waitSeconds > 0 ? ["Wait"] : []), "Respond"];
  const edges = names
    .slice(1)
    .map((to, at) => [names[at], { main: [[{ node: to, type: "main", index: 0 }]] }]);
  return {
    id,
    name: id,
    active: false,
    settings: { executionOrder: "v1" },
    nodes: [
      node("Webhook", "webhook", 2.1, {
        httpMethod: "POST",
        path,
        responseMode: "responseNode",
        options: {},
      }),
      ...(waitSeconds > 0 ? [node("Wait", "wait", 1.1, { amount: waitSeconds, unit: "seconds" })] : []),
      node("Respond", "respondToWebhook", 1.4, { respondWith: "json", responseBody: body, options: {} }),
    ],
    connections: Object.fromEntries(edges),
  };
}

describe.each(VERSIONS)("n8n %s", (version) => {
  let story: IntegrationStory;
  let n8n: RealN8n;
  let isHere = false;

  beforeAll(async () => {
    isHere = await runsHere(version);
    if (!isHere) return;
    story = await startIntegrationStory();
    n8n = await openN8n(await installN8n(version));
    const { shop, gateway } = story;
    const settings = { gateway_url: gateway.url, api_key: shop.api_key, webhook_secret: shop.webhook_secret };
    for (const workflow of [
      readyWorkflow("answer", settings),
      readyWorkflow("verify-and-answer", settings),
      moved(readyWorkflow("answer", {}), "unfilled", "unfilled00000001"),
      moved(readyWorkflow("answer", { webhook_secret: "another" }), "wrong-secret", "wrongsecret00001"),
      respondingWorkflow(
        "slow000000000001",
        "slow",
        "={{ JSON.stringify({ output: 'thought about it' }) }}",
        15,
      ),
      respondingWorkflow(
        "file000000000001",
        "file",
        "={{ JSON.stringify({ mediaUrl: $json.body.mediaUrl, caption: 'back' }) }}",
      ),
      moved(
        readyWorkflow("verify-and-answer", { ...settings, api_key: "wrong" }),
        "wrong-key",
        "wrongkey00000001",
      ),
    ])
      await n8n.importWorkflow(workflow);
    await n8n.start();
  });
  afterAll(async () => {
    await story?.stop();
    await n8n?.stop();
  });

  /** Skipped with a reason if this Node version cannot run this n8n. */
  function testIfRunnable(title: string, run: () => Promise<void>): void {
    test(title, async (context) => {
      if (!isHere) context.skip(`n8n ${version} does not run on Node ${process.version}`);
      await run();
    });
  }

  async function save(path: string, config: Record<string, unknown> = {}) {
    await story.shop.client.saveIntegration({
      id: story.shop.id,
      provider: "n8n",
      enabled: true,
      config: { webhook_url: `${n8n.url}/webhook/${path}`, ...config },
    });
  }

  const at = () => ({ id: story.shop.id, provider: "n8n" as const });
  const read = async () => (await story.shop.client.getIntegration(at())).data;
  const tryOut = async () => (await story.shop.client.testIntegration(at())).data;
  const response = { reply_mode: "response" };

  testIfRunnable("says that a workflow is not active, and takes the event once it is", async () => {
    await save("waygate-answer", response);
    expect(await tryOut()).toMatchObject({ success: false, message: expect.stringMatching(/not active/) });
    const ana = newPerson();
    await story.receive(ana, "hi");
    await waitUntil(async () => (await read()).status === "inactive");
    await n8n.activate("waygateanswer001");
    expect(await story.receivedBy(ana, 1)).toEqual(["You wrote: hi"]);
    expect(await tryOut()).toMatchObject({
      success: true,
      details: { would_send: [{ text: "You wrote: This is a test." }] },
    });
  });

  testIfRunnable(
    "answers through the API with the ready workflow, once, and takes the test call without a failure",
    async () => {
      await n8n.activate("waygateverify001");
      await save("waygate");
      const ana = newPerson();
      await story.receive(ana, "olá, você");
      expect(await story.receivedBy(ana, 1)).toEqual(["You wrote: olá, você"]);
      expect(await tryOut()).toMatchObject({ success: true });
      await waitUntil(async () => (await n8n.executions("waygateverify001")).length === 2);
      expect(await n8n.executions("waygateverify001")).toEqual(["success", "success"]);
    },
  );

  testIfRunnable(
    "fails loudly with a ready workflow that is not filled in, or has another secret",
    async () => {
      await n8n.activate("unfilled00000001");
      await save("unfilled", response);
      expect(await tryOut()).toMatchObject({
        success: false,
        status_code: 500,
        message: expect.stringMatching(/not filled in/),
      });
      await waitUntil(async () => (await n8n.executions("unfilled00000001"))[0] === "error");
      await n8n.activate("wrongsecret00001");
      await save("wrong-secret", response);
      expect(await tryOut()).toMatchObject({
        success: false,
        status_code: 401,
        message: expect.stringMatching(/signature is wrong/),
      });
      expect((await read()).status).toBe("auth_error");
    },
  );

  testIfRunnable("is heard when it answers after 15 s, and runs once", async () => {
    await n8n.activate("slow000000000001");
    await save("slow", response);
    const ana = newPerson();
    await story.receive(ana, "think");
    expect(await story.receivedBy(ana, 1)).toEqual(["thought about it"]);
    expect(await n8n.executions("slow000000000001")).toHaveLength(1);
  });

  testIfRunnable("sends back the file that it was given", async () => {
    await n8n.activate("file000000000001");
    await save("file", response);
    const ana = newPerson();
    await story.receive(ana, "", { media: { base64: PNG, mime_type: "image/png", caption: "look" } });
    expect(await story.receivedBy(ana, 1)).toEqual(["back"]);
    expect((await read()).last_error_is_past || (await read()).last_error === null).toBe(true);
  });

  testIfRunnable("shows that its reply was refused, and the event is tried again", async () => {
    await n8n.activate("wrongkey00000001");
    await save("wrong-key");
    await story.receive(newPerson(), "hi");
    await waitUntil(async () => (await read()).status === "failing");
    expect((await read()).last_error).toMatch(
      /workflow or its response has failed.*gateway has refused the reply/,
    );
    await waitUntil(async () => (await n8n.executions("wrongkey00000001")).length >= 2);
    expect(await n8n.executions("wrongkey00000001")).toContain("error");
  });

  testIfRunnable(
    "answers with the webhook secret from before a change, as long as that one holds",
    async () => {
      const { id, client } = story.shop;
      await n8n.activate("waygateanswer001");
      await save("waygate-answer", response);
      await client.updateDefaultWebhook({ id, url: "http://127.0.0.1:1/nobody" });
      await client.updateDefaultWebhook({ id, rotate_secret: true });
      const ana = newPerson();
      await story.receive(ana, "still me");
      expect(await story.receivedBy(ana, 1)).toEqual(["You wrote: still me"]);
    },
  );

  testIfRunnable("is killed and started again while 30 people write: all are answered, once", async () => {
    await n8n.activate("waygateanswer001");
    await save("waygate-answer", response);
    const people = Array.from({ length: WRITERS }, () => newPerson());
    const wroteAt = new Map<string, number>();
    const answeredAt = new Map<string, number>();
    const write = async (from: number, to: number) => {
      for (const person of people.slice(from, to)) {
        await story.receive(person, "are you there?");
        wroteAt.set(person, performance.now());
      }
    };
    const recordResponses = async (): Promise<number> => {
      for (const person of people.filter((one) => !answeredAt.has(one)))
        if ((await story.receivedSoFar(person)).length > 0) answeredAt.set(person, performance.now());
      return answeredAt.size;
    };
    await write(0, WRITERS / 3);
    await waitUntil(async () => (await recordResponses()) > 0);
    await n8n.kill();
    const killedAt = performance.now();
    await write(WRITERS / 3, (2 * WRITERS) / 3);
    await n8n.start();
    const hook = `${n8n.url}/webhook/waygate-answer`;
    await waitUntil(async () => (await (await fetch(hook)).text()).includes("not registered for GET"));
    const backAt = performance.now();
    await write((2 * WRITERS) / 3, WRITERS);
    await waitUntil(async () => (await recordResponses()) === WRITERS, 120_000);
    await story.waitUntilIdle();
    for (const person of people)
      expect(await story.receivedSoFar(person)).toEqual(["You wrote: are you there?"]);
    const waits = people
      .map((one) => (answeredAt.get(one) ?? 0) - (wroteAt.get(one) ?? 0))
      .sort((a, b) => a - b);
    const seconds = (ms = 0) => (ms / 1000).toFixed(1);
    process.stdout.write(
      [
        `n8n ${version}, killed and started again, away for ${seconds(backAt - killedAt)} s: ${WRITERS} people wrote,`,
        `a third of them while it was away; answered ${answeredAt.size}, each once;`,
        `time to answer: median ${seconds(waits[WRITERS / 2])} s, longest ${seconds(waits.at(-1))} s;`,
        `last answer ${seconds(Math.max(...answeredAt.values()) - backAt)} s after its return.\n`,
      ].join(" "),
    );
  });
});
