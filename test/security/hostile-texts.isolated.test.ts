import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contract } from "../../src/contract.ts";
import { chatwootConfig } from "../../src/features/integrations/chatwoot/chatwoot-config.ts";
import { n8nConfig } from "../../src/features/integrations/n8n/n8n-config.ts";
import { typebotConfig } from "../../src/features/integrations/typebot/typebot-config.ts";
import type { Route } from "../../src/platform/http/route.ts";
import { cpuMsOf } from "../cpu-time.ts";
import { ADMIN_TOKEN, startTestGateway, type TestGateway, type TestInstance } from "../gateway.ts";
import { createHttpRequester, type HttpRequester } from "../http-requester.ts";
import { signIn } from "../sign-in.ts";
import { createProbeRequests, type Probe, type ProbeRequest } from "./probes.ts";
import { isFullRun, printFigures } from "./run-size.ts";
import { type TextField, textFieldsOf } from "./text-fields.ts";

const MIB = 1_048_576;
/** Mostly the test's own time: it writes, sends and refuses a text of 1 MB. Its square takes minutes. */
const MOST_CPU_MS = 1_500;
const MOST_MEMORY_RISE = 768 * MIB;
const LONGEST_ANSWER = 64 * 1_024;
/** A unit fills a body with as many characters as fit. */
const UNITS = {
  letters: "x",
  emoji: "👨\u200d👩\u200d",
  "combining marks": "e\u0301\u0302\u0303",
  surrogates: "\ud83d",
};

const fields = textFieldsOf(contract);

describe("a text field of an operation", () => {
  test("has a maximum length, and no code reads a longer text", () => {
    const configs = { chatwootConfig, n8nConfig, typebotConfig };
    const inConfigs = textFieldsOf(
      Object.fromEntries(
        Object.entries(configs).map(([name, input]) => [name, { input } as unknown as Route]),
      ),
    );
    const open = [...fields, ...inConfigs].filter(({ max, early }) => max === undefined || early.length > 0);
    expect(open.map(({ operation, path, early }) => `${operation}: ${path} ${early.join(", ")}`)).toEqual([]);
    expect(fields.length).toBeGreaterThan(300);
  });
});

describe("a text of any length and kind", () => {
  let gateway: TestGateway;
  let sales: TestInstance;
  let call: HttpRequester;
  let token: string;
  let toRequest: (probe: Probe) => ProbeRequest;

  beforeAll(async () => {
    gateway = await startTestGateway({ WAYGATE_MEDIA_MAX_MB: "1", WAYGATE_UNKNOWN_RATE: "0" });
    sales = await gateway.connectInstance();
    call = createHttpRequester(() => gateway.url);
    token = (await signIn(gateway.url)).token;
    toRequest = createProbeRequests({ id: String(sales.id), provider: "typebot" });
  });
  afterAll(() => gateway.stop());

  function headersOf({ field }: Probe): Record<string, string> {
    const { access } = contract[field.operation as keyof typeof contract] as Route;
    if (access === "instance" || access === "key") return { "x-api-key": sales.api_key };
    return access.includes("admin") ? { admintoken: ADMIN_TOKEN } : { authorization: `Bearer ${token}` };
  }

  async function ask(probe: Probe) {
    const request = toRequest(probe);
    let answer = { status: 0, length: 0 };
    const cpuMs = await cpuMsOf(async () => {
      const { status, body } = await call(request.http, request.body, headersOf(probe));
      answer = { status, length: JSON.stringify(body).length };
    });
    return { ...answer, cpuMs };
  }

  test(`costs bounded time and memory in each of ${fields.length} fields, and gets a response`, async () => {
    const before = process.memoryUsage().rss;
    const faults: string[] = [];
    const worst = { requests: 0, cpuMs: 0, memory: 0, largest_rise_of_one_mb: 0 };
    for (const probe of probesOf(fields)) {
      const { rss } = process.memoryUsage();
      const answer = await ask(probe);
      const riseMb = Math.round((process.memoryUsage().rss - rss) / MIB);
      worst.largest_rise_of_one_mb = Math.max(worst.largest_rise_of_one_mb, riseMb);
      faults.push(...faultsOf(answer).map((fault) => `${describeProbe(probe)}: ${fault}`));
      worst.requests += 1;
      worst.cpuMs = Math.max(worst.cpuMs, answer.cpuMs);
      worst.memory = Math.max(worst.memory, process.memoryUsage().rss - before);
    }
    printFigures("Texts of any length and kind", worst);
    expect(faults).toEqual([]);
    expect(worst.memory).toBeLessThan(MOST_MEMORY_RISE);
  });
});

function describeProbe({ field, unit, characters }: Probe): string {
  return `${field.operation}: ${field.path}, ${characters} characters of ${JSON.stringify(unit)}`;
}

/** A file that cannot be fetched is 502, which is no fault of the gateway. */
function faultsOf({ status, length, cpuMs }: { status: number; length: number; cpuMs: number }): string[] {
  return [
    ...(status >= 500 && status !== 502 ? [`answered with ${status}`] : []),
    ...(status >= 400 && length > LONGEST_ANSWER ? [`an answer of ${length} characters`] : []),
    ...(cpuMs > MOST_CPU_MS ? [`${Math.round(cpuMs)} ms of processor time`] : []),
  ];
}

/** The longest allowed text, ten times that, and as much as a body holds; the cut takes one of them for each field that differs. */
function probesOf(all: readonly TextField[]): Probe[] {
  const units = Object.values(UNITS);
  if (isFullRun)
    return all.flatMap((field) =>
      units.flatMap((unit) => lengthsOf(field, unit).map((characters) => ({ field, unit, characters }))),
    );
  const distinct = new Map(all.map((field) => [`${field.path} ${field.max}`, field]));
  return [...distinct.values()].map((field, at) => {
    const unit = units[at % units.length] ?? "x";
    const lengths = lengthsOf(field, unit);
    return { field, unit, characters: lengths[Math.floor(at / units.length) % lengths.length] ?? 1 };
  });
}

function lengthsOf({ operation, max = 0 }: TextField, unit: string): number[] {
  const { access, bodyLimitBytes } = contract[operation as keyof typeof contract] as Route;
  const limit = (access === "public" ? 65_536 : Math.min(bodyLimitBytes ?? MIB, 2 * MIB)) - 2_048;
  const inUnit = Buffer.byteLength(JSON.stringify(unit)) - 2;
  const most = Math.floor((limit / inUnit) * [...unit].length);
  return [max, 10 * max, most].map((one) => Math.min(one, most));
}
