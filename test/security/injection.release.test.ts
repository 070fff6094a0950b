import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, expect, test } from "vitest";
import { contract } from "../../src/contract.ts";
import type { Route } from "../../src/platform/http/route.ts";
import { startTestGateway, type TestGateway, type TestInstance } from "../gateway.ts";
import { createHttpRequester, type HttpRequester, type RawHttpResponse } from "../http-requester.ts";
import { inBase64, SAMPLE } from "../sample-files.ts";
import { type Receiver, startReceiver } from "../servers/receiver.ts";
import { signIn } from "../sign-in.ts";
import { statusOf } from "./raw-request.ts";
import { printFigures } from "./run-size.ts";

const INJECTED = "x-injected";
/** Character sequences that end a header in some parser. */
const BREAKS = [
  "\r\n",
  "\n",
  "\r",
  "\0",
  "\r\n ",
  "\n\t",
  "\u2028",
  "\u0085",
  "\u560a",
  "\v",
  "\f",
  "%0d%0a",
];
const PERSON = "5511987651234";

let gateway: TestGateway;
let receiver: Receiver;
let sales: TestInstance;
let request: HttpRequester;
let key: Record<string, string>;
let bearer: Record<string, string>;

beforeAll(async () => {
  gateway = await startTestGateway({ WAYGATE_UNKNOWN_RATE: "0" });
  receiver = await startReceiver();
  sales = await gateway.connectInstance();
  request = createHttpRequester(() => gateway.url);
  key = { "x-api-key": sales.api_key };
  bearer = (await signIn(gateway.url)).headers;
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
});

const poisoned = BREAKS.flatMap((end) => [
  `a${end}${INJECTED}: 1`,
  `${end}${INJECTED}: 1${end}${end}<b>`,
  `a${end}`,
]);

test("no file name and no type with a line break adds a header to the response with the file", async () => {
  const base = `/api/v1/instances/${sales.id}`;
  const faults: string[] = [];
  let input = 0;
  for (const text of poisoned) {
    for (const fields of [
      { file_name: `${text}.pdf` },
      { file_name: "a.pdf", mime_type: `application/${text}` },
    ]) {
      const body = { number: PERSON, type: "document", base64: inBase64(SAMPLE.pdf), ...fields };
      const sent = await request(`POST ${base}/send-media`, body, key);
      if (sent.status === 400) continue;
      const { message_id } = sent.body.data ?? {};
      const { data } = await sales.client.listMessages({ id: sales.id, limit: 1 });
      const media = data.find((one) => one.message_id === message_id)?.media?.id;
      const response = await request(`GET ${base}/media/${media}`, undefined, key);
      input += 1;
      faults.push(...problemsOf(response).map((fault) => `${JSON.stringify(fields)} ${fault}`));
    }
  }
  printFigures("Files with names and types that break lines", {
    tried: poisoned.length * 2,
    given_out: input,
  });
  expect(faults).toEqual([]);
  expect(input).toBeGreaterThan(10);
});

function problemsOf({ status, headers }: RawHttpResponse): string[] {
  const breaksLine = /\p{Cc}/u.test(headers.get("content-disposition") ?? "");
  return [
    ...(status === 200 ? [] : [`answers ${status}`]),
    ...(headers.has(INJECTED) ? ["injects a header"] : []),
    ...(breaksLine ? ["breaks the line"] : []),
  ];
}

test("no webhook header and no name with a line break adds a header to a delivery", async () => {
  const base = `/api/v1/instances/${sales.id}/webhooks`;
  const statuses: Record<string, number> = {};
  const faults: string[] = [];
  const url = `${receiver.url}/injection`;
  for (const text of poisoned) {
    const inputs = [
      { name: "Shop", url, headers: { "x-own": text } },
      { name: "Shop", url, headers: { [`x-${text}`]: "1" } },
      { name: text, url },
      { name: "Shop", url: `${url}?${text}` },
      { name: "Shop", url, secret: `${text}${"s".repeat(32)}` },
    ];
    for (const input of inputs) {
      const { status, body } = await request(`POST ${base}`, input, key);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status >= 500) faults.push(`${JSON.stringify(input)}: ${status}`);
      if (status >= 300) continue;
      await request(`POST ${base}/${body.data.id}/test`, {}, key);
      await request(`DELETE ${base}/${body.data.id}`, undefined, key);
    }
  }
  printFigures("Webhooks with fields that break lines", { statuses, delivered: receiver.received.length });
  expect(faults).toEqual([]);
  expect(receiver.received.length).toBeGreaterThan(5);
  expect(receiver.received.filter(({ headers }) => INJECTED in headers)).toEqual([]);
});

test("a request id of the client is returned only if it is plain", async () => {
  for (const odd of ["a b", "a\tb", "<script>", "a;b", "é", "x".repeat(129), "a,b", '"', "a%0d%0ab"]) {
    const response = await request("GET /health", undefined, { "x-request-id": odd });
    expect(response.headers.get("x-request-id")).toMatch(/^req_[0-9A-Z]{26}$/);
  }
  for (const end of ["\r", "\n", "\0"]) {
    const bytes = Buffer.from(
      `GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-request-id: a${end}b\r\n\r\n`,
    );
    expect(await statusOf(gateway.url, bytes)).toBe(400);
  }
});

test("every table that can be downloaded is a CSV that this test file knows", () => {
  const found = Object.entries<Route>(contract).filter(
    ([, { raw = "", input }]) => /csv/i.test(raw) || optionsOf(input).includes("csv"),
  );
  expect(found.map(([name]) => name)).toEqual(["getCampaignReport", "exportLeads"]);
});

test("no part of a downloaded table begins like a formula, at whichever sign it is split", async () => {
  const { data: campaign } = await gateway.owner.createCampaign({
    name: "=1+1",
    instance_id: sales.id,
    message_template: "Hi",
  });
  const beginnings = [
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    "\0=",
    " =",
    "\u00a0=",
    "\uff1d",
    "\uff0b",
    "\uff0d",
    "\uff20",
    "|",
    "%",
    '"=',
    "';=",
    "x;=",
    "x\t@",
    "x|+",
    'x,"-',
  ];
  const recipients = beginnings.flatMap((one, nth) => [
    { phone: `55119876500${10 + nth}`, variables: { [`${one}cmd|' /C calc'!A0`]: "x" } },
    { phone: `55119876510${10 + nth}`, variables: { a: `${one}HYPERLINK("http://x")` } },
  ]);
  for (const recipient of recipients) {
    const added = await request(
      `POST /api/campaigns/${campaign.id}/recipients`,
      { recipients: [recipient] },
      bearer,
    );
    expect(added.status).toBeLessThan(500);
    const [name] = Object.entries(recipient.variables).flat();
    const custom_fields = { [String(name).slice(0, 60)]: recipient.variables.a ?? name };
    const lead = { phone: recipient.phone, name, tags: [recipient.variables.a ?? "x"], custom_fields };
    expect((await request("POST /api/leads", lead, bearer)).status).toBe(200);
  }
  const leads = await gateway.owner.exportLeads();
  const report = await gateway.owner.getCampaignReport({ id: campaign.id, format: "csv" });
  const rows = parse(Buffer.from(report.bytes ?? []), { relax_column_count: true }) as string[][];
  const leadRows = parse(Buffer.from(leads.bytes ?? [])) as string[][];
  expect(leadRows.length).toBeGreaterThan(recipients.length);
  const cells = [...rows, ...leadRows].flat();
  printFigures("Cells of tables", { rows: rows.length, cells: cells.length });
  expect(rows.length).toBeGreaterThan(beginnings.length);
  // A phone number with its plus is no formula.
  const texts = cells.filter((cell) => !/^\+\d+$/.test(cell));
  expect(texts.filter((cell) => /(?:^|[,;|\t])[\s\p{Cc}"]*[=+\-@＝＋－＠]/u.test(cell))).toEqual([]);
});

/** Permitted values of the enum fields of an input. */
function optionsOf(input: Route["input"]): string[] {
  const shape = (input as { shape?: Record<string, unknown> }).shape ?? {};
  return Object.values(shape).flatMap((field) => wordsOf(field));
}

// biome-ignore lint/suspicious/noExplicitAny: the definitions of schemas differ by their type
function wordsOf(field: any): string[] {
  const { entries, innerType } = field?._zod?.def ?? {};
  return entries ? Object.keys(entries) : innerType ? wordsOf(innerType) : [];
}
