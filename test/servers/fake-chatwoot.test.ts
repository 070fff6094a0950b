import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SAMPLE } from "../sample-files.ts";
import { ROOT } from "../source-files.ts";
import { FakeChatwoot } from "./fake-chatwoot.ts";

const FOLDER = join(ROOT, "test/golden/chatwoot");
const STATUS_BROADCAST = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));

interface Step {
  why?: string;
  call?: string;
  public?: boolean;
  act?: "write" | "record";
  conversation?: string;
  body?: Record<string, unknown>;
  status?: number;
  response?: object;
  hook?: object;
  keys?: string[];
  keep?: Record<string, string>;
}

let chatwoot: FakeChatwoot;
let kept: Map<string, unknown>;

beforeEach(async () => {
  chatwoot = await new FakeChatwoot().start();
  chatwoot.inbox.webhook_url = `${chatwoot.url}/api`;
  kept = new Map();
});
afterEach(() => chatwoot.stop());

/** Inserts values of earlier steps. A placeholder that is the whole text keeps its type. */
function fill(value: unknown): unknown {
  const named = (name: string) => kept.get(name) ?? `{${name}}`;
  const filled = JSON.stringify(value ?? null)
    .replace(/"\{(\w+)\}"/g, (_, name: string) => JSON.stringify(named(name)))
    .replace(/(?<!\{)\{(\w+)\}(?!\})/g, (_, name: string) => String(named(name)));
  return JSON.parse(filled);
}

function at(value: unknown, path: string): unknown {
  return path.split(".").reduce((part, name) => (part as Record<string, unknown>)[name], value);
}

async function request({ call = "", body, public: isPublic }: Step) {
  const [method = "", path = ""] = String(fill(call)).split(" ");
  const base = isPublic
    ? `/public/api/v1/inboxes/${chatwoot.inbox.inbox_identifier}`
    : `/api/v1/accounts/${chatwoot.account_id}`;
  const response = await fetch(`${chatwoot.url}${base}/${path}`, {
    method,
    headers: { "content-type": "application/json", ...(!isPublic && { api_access_token: chatwoot.token }) },
    ...(body && { body: JSON.stringify(fill(body)) }),
  });
  return { status: response.status, body: (await response.json()) as unknown };
}

async function lastHook() {
  await chatwoot.settled();
  return chatwoot.hooks.at(-1)?.event;
}

async function play(step: Step): Promise<void> {
  await chatwoot.settled();
  const asked = step.call ? await request(step) : undefined;
  if (asked) expect(asked.status).toBe(step.status);
  if (asked && step.response) expect(asked.body).toMatchObject(fill(step.response) as object);
  const conversation = Number(fill(step.conversation));
  if (step.act === "write") chatwoot.write(conversation, fill(step.body) as object);
  if (step.act === "record") chatwoot.record(conversation, SAMPLE.mp3);
  const hook = step.hook ? await lastHook() : undefined;
  if (step.hook) expect(hook).toMatchObject(fill(step.hook) as object);
  if (step.keys) expect(Object.keys(hook ?? {}).sort()).toEqual(step.keys);
  for (const [name, path] of Object.entries(step.keep ?? {})) kept.set(name, at(asked?.body ?? hook, path));
}

describe("the fake Chatwoot responds as Chatwoot 4.16.2 does", () => {
  test.each(STATUS_BROADCAST)("in the story of %s", async (name) => {
    const { source, steps } = JSON.parse(readFileSync(join(FOLDER, name), "utf8")) as {
      source: string[];
      steps: Step[];
    };
    expect(source.length).toBeGreaterThan(0);
    for (const [place, step] of steps.entries())
      await play(step).catch((error: unknown) => {
        throw new Error(
          `step ${place + 1}, ${step.why ?? step.call ?? step.act}: ${(error as Error).message}`,
        );
      });
  });

  test("for the name of a recording, which is a UUID", () => {
    const { id } = chatwoot.startConversation({ name: "Bia", identifier: null, phone_number: "+1" });
    const names = (["mp3", "wav"] as const).map(
      (extension) => chatwoot.record(id, SAMPLE.mp3, extension).attachments[0]?.file_name,
    );
    expect(names).toEqual([
      expect.stringMatching(/^[0-9a-f-]{36}\.mp3$/),
      expect.stringMatching(/^[0-9a-f-]{36}\.wav$/),
    ]);
  });

  test("for the maximum length of a message, before Liquid has rendered it", async () => {
    const { id } = chatwoot.startConversation({ name: "Bia", identifier: null, phone_number: "+1" });
    const call = `POST conversations/${id}/messages`;
    expect(await request({ call, body: { content: "{{x}}".repeat(30_000) } })).toMatchObject({ status: 200 });
    expect(await request({ call, body: { content: "{{x}}".repeat(30_001) } })).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining("too long") },
    });
  });
});
