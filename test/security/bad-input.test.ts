import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { ADMIN_TOKEN } from "../gateway.ts";
import { SAMPLE } from "../sample-files.ts";
import { type Receiver, startReceiver } from "../servers/receiver.ts";
import { PASSWORD } from "../sign-in.ts";
import {
  type Asked,
  addressOf,
  cursorRequests,
  fieldErrorsOf,
  findReasonProblems,
  longTextRequests,
  namesField,
  randomRequest,
  routeOf,
  type WrongRequest,
  wholeRequest,
  wrongRequests,
} from "./bad-requests.ts";
import { credentialsFor, type FuzzTarget, type FuzzTenant, startFuzzTarget } from "./fuzz-target.ts";
import { type Operation, readOperations } from "./operations.ts";
import { isFullRun, printFigures } from "./run-size.ts";

const OPERATIONS = readOperations();
/** Constant in the normal suite. A full run draws and prints another one. */
const SEED = Number(process.env.WAYGATE_SECURITY_SEED ?? (isFullRun ? Date.now() % 1_000_000_000 : 7));
const RANDOM_REQUESTS = isFullRun ? 25 : 1;

/** Stack traces, module paths or database errors. */
const INNER_WORDS = /node_modules|\.[cm]?[jt]s:\d|\n\s+at |postgres(ql)?:\/\/|violates .* constraint/;
const LONGEST_REFUSAL = 64 * 1_024;
/** Permitted statuses from 500 on. */
const HONEST = new Set([501, 502, 503, 504, 507]);
/** Timeout. The longest wait that a request can ask for is a minute. */
const HANGS_AFTER_MS = 150_000;

interface ApiResponse {
  status: number;
  type: string;
  text: string;
  body: unknown;
  /** Values that no refusal may contain. */
  secrets: string[];
}

let receiver: Receiver;
let target: FuzzTarget;
let quiet: FuzzTenant;
const figures = {
  seed: SEED,
  operations: OPERATIONS.length,
  requests: 0,
  statuses: {} as Record<string, number>,
};

beforeAll(async () => {
  receiver = await startReceiver();
  target = await startFuzzTarget({ receiver: receiver.url });
  quiet = await target.tenant();
});
afterAll(async () => {
  await target.stop();
  await receiver.close();
  printFigures("Bad input", figures);
});

/** An odd number uses another credential of the operation. */
async function ask(
  operation: Operation,
  tenant: FuzzTenant,
  asked: Asked,
  credential = 0,
): Promise<ApiResponse> {
  const [method, path] = addressOf(operation, asked).split(" ");
  figures.requests += 1;
  const nth = figures.requests;
  const secrets = [tenant.token, tenant.key, ADMIN_TOKEN, PASSWORD];
  const isForm = asked.body instanceof FormData || typeof asked.body === "string";
  try {
    const response = await fetch(`${target.gateway.url}${path}`, {
      method,
      redirect: "manual",
      signal: AbortSignal.timeout(HANGS_AFTER_MS),
      headers: {
        ...credentialsFor(operation, tenant, credential),
        // Separate addresses, because too many failed sign-ins from one are refused.
        "x-forwarded-for": `10.${(nth >> 16) & 255}.${(nth >> 8) & 255}.${nth & 255}`,
        ...(asked.body !== undefined && !isForm && { "content-type": "application/json" }),
        ...(typeof asked.body === "string" && { "content-type": "text/csv" }),
      },
      body: isForm ? (asked.body as FormData) : JSON.stringify(asked.body),
    });
    const { status } = response;
    figures.statuses[status] = (figures.statuses[status] ?? 0) + 1;
    const type = (response.headers.get("content-type") ?? "").split(";")[0] ?? "";
    if (type === "text/event-stream") await response.body?.cancel();
    const text = type === "text/event-stream" ? "" : await response.text();
    return { status, type, text, body: type === "application/json" ? JSON.parse(text) : text, secrets };
  } catch (error) {
    return { status: 0, type: "", text: "", body: String((error as Error).cause ?? error), secrets };
  }
}

/** Problems that no response may have. */
function findProblems(operation: Operation, { status, type, text, body, secrets }: ApiResponse): string[] {
  if (status === 0) return [`no response (${body})`];
  const misfit = operation.misfit(status, type, body);
  return [
    ...(status >= 500 && !HONEST.has(status) ? [`status ${status}: ${text}`] : []),
    ...(misfit ? [`status ${status} does not fit the document: ${misfit}`] : []),
    ...(status < 400
      ? []
      : [
          ...(INNER_WORDS.test(text) ? [`speaks of the inside: ${text}`] : []),
          ...(secrets.some((secret) => text.includes(secret)) ? [`shows a secret: ${text}`] : []),
          ...(text.length > LONGEST_REFUSAL ? [`a refusal of ${text.length} characters`] : []),
        ]),
  ];
}

const shown = (asked: Asked) => JSON.stringify(asked).slice(0, 1_000);

/** Tables that the gateway changes on its own: nodes, request logs and message counts. */
const RESTLESS =
  "node lane job api_log audit audit_pending audit_seal monthly_message_count message_count_cursor".split(
    " ",
  );

interface TableState {
  rows: number;
  /** Of all rows. */
  hash: string;
}

async function readTables(): Promise<Map<string, TableState>> {
  const { db } = target.gateway.database;
  const { rows: tables } = await sql<{ name: string }>`
    select oid::regclass::text as name from pg_class where relkind in ('r', 'p') and not relispartition
      and relnamespace::regnamespace::text in ('public', 'sandbox') and not relname = any(${RESTLESS})`.execute(
    db,
  );
  const each = tables.map(
    ({ name }) => sql`select ${name}::text as name, count(*)::int as rows,
      coalesce(sum(hashtextextended(t::text, 0)), 0)::text as hash from ${sql.raw(name)} t`,
  );
  const { rows } = await sql<TableState & { name: string }>`${sql.join(each, sql` union all `)}`.execute(db);
  return new Map(rows.map((one) => [one.name, one]));
}

const each = OPERATIONS.map((operation) => [operation.id, operation] as const);

describe("a request with one wrong field, or without the body that the document requires", () => {
  let before: Map<string, TableState>;
  beforeAll(async () => {
    before = await readTables();
  });

  async function problemsOf(operation: Operation): Promise<string[]> {
    const whole = wholeRequest(operation, quiet.knownFor(operation));
    const problems: string[] = [];
    for (const [nth, asked] of wrongRequests(operation, whole, SEED).entries()) {
      const response = await ask(operation, quiet, asked, nth);
      const found = [...findProblems(operation, response), ...findRefusalProblems(response, asked)];
      problems.push(...found.map((problem) => `${asked.field}: ${problem} for ${shown(asked)}`));
    }
    if (!operation.requiresBody) return problems;
    const { text } = await ask(operation, quiet, { ...whole, body: undefined });
    return hasNoBody(text) ? problems : [...problems, `without a body: ${text}`];
  }

  /** Tables whose row count or content changed since the last call. */
  async function changedTables(): Promise<Record<keyof TableState, string[]>> {
    const now = await readTables();
    const changedBy = (by: keyof TableState) =>
      [...now].filter(([name, state]) => state[by] !== before.get(name)?.[by]).map(([name]) => name);
    const changed = { rows: changedBy("rows"), hash: changedBy("hash") };
    before = now;
    return changed;
  }

  // Tokens and addresses in the path are checked first.
  test.each(each.filter(([, operation]) => !routeOf(operation).pathToken))(
    "is refused with its name, and writes nothing: %s",
    async (_, operation) => {
      expect(await problemsOf(operation)).toEqual([]);
      const { rows: added, hash } = await changedTables();
      let changed = hash;
      // Changes over time, such as the last use of a key, do not repeat with each request.
      for (let again = 0; changed.length > 0 && again < 3; again++) {
        await problemsOf(operation);
        changed = (await changedTables()).hash;
      }
      expect([...added, ...changed]).toEqual([]);
    },
  );
});

function findRefusalProblems({ status, text, body }: ApiResponse, { field }: WrongRequest): string[] {
  const { code, message = "", details } = body as { code?: string; message?: string; details?: object };
  if (status !== 400 || code !== "VALIDATION_ERROR") return [`${status} ${text}`];
  const isNamed =
    namesField({ details }, field) && fieldErrorsOf({ details }).some((one) => message.includes(one.field));
  return [
    ...(isNamed ? [] : [`the field is not named: ${text}`]),
    ...fieldErrorsOf({ details }).flatMap(findReasonProblems),
  ];
}

const hasNoBody = (text: string) => text.includes('"The request has no body');

describe("a request of any kind", () => {
  let taken = 0;
  let tried = 0;

  test.each(each)("gets a documented response, and the next one too: %s", async (_, operation) => {
    const tenant = await target.tenant();
    const known = tenant.knownFor(operation);
    const whole = wholeRequest(operation, known);
    const problems: string[] = [];
    const tryOne = async (asked: Asked, problemsOf: (response: ApiResponse) => string[] = () => []) => {
      const response = await ask(operation, tenant, asked);
      const found = [...findProblems(operation, response), ...problemsOf(response)];
      problems.push(...found.map((problem) => `${problem} for ${shown(asked)}`));
      return response;
    };
    if (!operation.requiresBody) await tryOne({ ...whole, body: undefined }, bodyIsMissed);
    for (const body of examplesOf(operation)) {
      const { status } = await tryOne({ ...whole, body }, exampleIsRefused);
      tried += 1;
      if (status < 300) taken += 1;
    }
    for (const asked of cursorRequests(operation, whole, SEED)) await tryOne(asked, cursorFails);
    for (const asked of longTextRequests(operation, whole)) await tryOne(asked);
    for (let nth = 0; nth < RANDOM_REQUESTS; nth++)
      await tryOne(randomRequest(operation, known, SEED + figures.requests));
    expect(problems).toEqual([]);
  });

  test("succeeds in most cases where it is the example of the document", () => {
    expect(tried).toBeGreaterThan(90);
    expect(taken).toBeGreaterThan(tried / 2);
  });
});

const cursorFails = ({ status, text }: ApiResponse) =>
  [200, 400, 404].includes(status) ? [] : [`${status} for a cursor: ${text}`];

/** The rows of an example may be missing here, but its shape must be valid. */
const exampleIsRefused = ({ status, text }: ApiResponse) =>
  status === 400 ? [`refuses the example: ${text}`] : [];

const bodyIsMissed = ({ text }: ApiResponse) => (hasNoBody(text) ? [`requires a body: ${text}`] : []);

function examplesOf({ path, examples }: Operation): unknown[] {
  return Object.entries(examples).map(([type, example]) =>
    type === "multipart/form-data" ? toForm(example as object, path) : example,
  );
}

/** The file is a picture, or a table if the path imports contacts. */
function toForm(example: object, path: string): FormData {
  const form = new FormData();
  const file = /import|recipients/.test(path)
    ? new File(["phone,name\n5511999990004,Bia\n"], "people.csv", { type: "text/csv" })
    : new File([SAMPLE.png], "photo.png", { type: "image/png" });
  for (const [key, value] of Object.entries(example))
    form.append(key, value === "(the file)" ? file : String(value));
  return form;
}

test("the responses that no request may get are recognised", () => {
  const operation = OPERATIONS.find(({ id }) => id === "me") as Operation;
  const refusal = { success: false, code: "ROUTE_NOT_FOUND", message: "No", error: "No", request_id: "1" };
  const problems = (status: number, changed: object, type = "application/json") => {
    const body = { ...refusal, ...changed };
    const response = { status, type, text: JSON.stringify(body), body, secrets: ["s3cret"] };
    return findProblems(operation, response).join();
  };
  expect(problems(404, {})).toBe("");
  expect(problems(401, { code: "AUTH_REQUIRED" })).toBe("");
  expect(problems(404, { code: "UNKNOWN" })).toMatch(/does not fit/);
  expect(problems(404, { code: "NOT_FOUND" })).toMatch(/404 NOT_FOUND is not in the document/);
  expect(problems(200, { data: {} })).toMatch(/does not fit/);
  expect(problems(200, {}, "text/html")).toMatch(/not in the document/);
  expect(problems(500, {})).toMatch(/status 500/);
  expect(problems(0, {})).toMatch(/no response/);
  expect(problems(404, { message: "at x.ts:7" })).toMatch(/inside/);
  expect(problems(404, { message: "s3cret" })).toMatch(/secret/);
  expect(problems(404, { message: "x".repeat(70_000) })).toMatch(/a refusal of/);
});

describe("a new user's mistake", () => {
  const post = async (path: string, body?: string, headers: Record<string, string> = {}) => {
    const response = await fetch(target.gateway.url + path, {
      method: "POST",
      headers: { "x-api-key": quiet.key, "content-type": "application/json", ...headers },
      body,
    });
    const refused = (await response.json()) as { code: string; message: string; details?: object };
    return { ...refused, status: response.status };
  };
  const ofShop = (path: string) => `/api/v1/instances/${quiet.instance}${path}`;

  test("in the place of the instance id is explained only to who may ask", async () => {
    for (const id of ["Sales", ":id", "0", "1.5"]) {
      const path = `/api/v1/instances/${id}/send-text`;
      expect((await post(path, "{}")).message).toMatch(/^id: must be the number of an instance in the path/);
      expect((await post(path, "{}", { "x-api-key": "wrong" })).status).toBe(401);
    }
  });

  test("in the JSON is refused with its line and column", async () => {
    const { message } = await post(ofShop("/send-text"), '{"number":"5511999990004",\n"text":"Hello",}');
    expect(message).toBe("The body is not valid JSON at line 2, column 16.");
  });

  test("in a field that a handler reads is refused under the name that was sent", async () => {
    const { message, details } = await post(ofShop("/send-text"), '{"to":"not a phone","text":"Hello"}');
    expect(message).toMatch(/^to: /);
    expect(fieldErrorsOf({ details })[0]?.field).toBe("to");
  });

  test("of a send before the pairing, a private address or another gateway's path says what to do", async () => {
    const hello = '{"number":"5511999990004","text":"Hello"}';
    // Random requests may have ended the sessions of the others.
    const { token } = await target.tenant();
    const owner = createClient({ baseUrl: target.gateway.url, token });
    const { data } = await owner.createInstance({ name: "New", network: "sandbox" });
    const key = { "x-api-key": data.api_key };
    const { message } = await post(`/api/v1/instances/${data.id}/send-text`, hello, key);
    expect(message).toContain(`Call POST /api/v1/instances/${data.id}/connect and scan the QR first.`);
    const hook = '{"url":"http://10.0.0.1/hook"}';
    expect((await post(ofShop("/webhooks"), hook)).message).toContain("WAYGATE_ALLOWED_HOSTS");
    expect((await post("/message/sendText/sales", "{}")).message).toContain("/docs/waygate/migration");
    const metrics = await (await fetch(`${target.gateway.url}/metrics`)).text();
    expect(metrics).toContain("WAYGATE_METRICS_TOKEN is not set");
  });
});
