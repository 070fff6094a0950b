import fc, { type Arbitrary } from "fast-check";
import { credentialsFor, type FuzzTarget, type FuzzTenant, startFuzzTarget } from "./fuzz-target.ts";
import { fieldValue, type KnownValues } from "./json-values.ts";
import { type Operation, readOperations } from "./operations.ts";

export interface FuzzFigures {
  seed: number;
  requests: number;
  operations: number;
  /** How many answers had which status; 0: the connection ended without one. */
  statuses: Record<string, number>;
  slowest_ms: number;
  /** Answers that no gateway may give, with what asked for them. */
  findings: string[];
}

interface FuzzCase {
  path: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
}

interface FuzzResponse {
  status: number;
  type: string;
  body: unknown;
}

/** Statuses above 499 that a caller may meet: they say what is away, full or not supported. */
const HONEST = new Set([501, 502, 503, 504, 507]);
/** No request waits longer: the longest wait that one can ask for is a minute. */
const HANGS_AFTER_MS = 150_000;
/** After so many requests the tenant is looked after: some of them delete its rows or sign it out. */
const ROUND = 40;

/** Asks every operation of our own OpenAPI in turn, with values that fit, nearly fit and hurt. */
export async function fuzzOperations({
  requests,
  seed,
}: {
  requests: number;
  seed: number;
}): Promise<FuzzFigures> {
  const operations = readOperations();
  const target = await startFuzzTarget();
  const figures: FuzzFigures = {
    seed,
    requests,
    operations: operations.length,
    statuses: {},
    slowest_ms: 0,
    findings: [],
  };
  try {
    for (let from = 0; from < requests; from += ROUND) {
      const tenant = await target.tenant();
      for (let nth = from; nth < Math.min(from + ROUND, requests); nth++) {
        const operation = operations[nth % operations.length];
        if (operation) await runCase({ target, tenant, operation, nth }, figures);
      }
    }
    return figures;
  } finally {
    await target.stop();
  }
}

interface Turn {
  target: FuzzTarget;
  tenant: FuzzTenant;
  operation: Operation;
  nth: number;
}

async function runCase({ target, tenant, operation, nth }: Turn, figures: FuzzFigures): Promise<void> {
  const arbitrary = caseOf(operation, tenant.knownFor(operation));
  const [asked] = fc.sample(arbitrary, { numRuns: 1, seed: figures.seed + nth });
  if (!asked) return;
  const began = performance.now();
  const response = await ask(target.gateway.url, operation, asked, {
    ...credentialsFor(operation, tenant, nth),
    "x-forwarded-for": `10.${(nth >> 16) & 255}.${(nth >> 8) & 255}.${nth & 255}`,
  });
  figures.slowest_ms = Math.max(figures.slowest_ms, Math.round(performance.now() - began));
  figures.statuses[response.status] = (figures.statuses[response.status] ?? 0) + 1;
  const wrong = classify(operation, response);
  if (wrong) figures.findings.push(`${operation.id}: ${wrong} for ${JSON.stringify(asked).slice(0, 2_000)}`);
}

function caseOf({ parameters, body }: Operation, known: KnownValues): Arbitrary<FuzzCase> {
  const of = (place: "path" | "query") =>
    Object.fromEntries(
      parameters
        .filter((one) => one.in === place)
        .map(({ name, schema }) => [name, fieldValue(name, schema, known)]),
    );
  return fc.record({
    path: fc.record(of("path")).filter((path) => Object.values(path).every(isSegment)),
    query: fc.record(of("query"), { requiredKeys: [] }),
    body: body ? fieldValue("", body, known) : fc.constant(undefined),
  });
}

async function ask(
  url: string,
  { method, path }: Operation,
  { path: inPath, query, body }: FuzzCase,
  headers: Record<string, string>,
): Promise<FuzzResponse> {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => inUrl(inPath[name]));
  const search = Object.entries(query).map(([name, value]) => `${name}=${inUrl(value)}`);
  try {
    const response = await fetch(`${url}${filled}?${search.join("&")}`, {
      method,
      redirect: "manual",
      signal: AbortSignal.timeout(HANGS_AFTER_MS),
      headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const type = (response.headers.get("content-type") ?? "").split(";")[0] ?? "";
    return { status: response.status, type, body: await readResponse(response, type) };
  } catch (error) {
    return { status: 0, type: "", body: String((error as Error).cause ?? error) };
  }
}

async function readResponse(response: Response, type: string): Promise<unknown> {
  if (type === "text/event-stream") return void (await response.body?.cancel());
  const text = await response.text();
  return type === "application/json" ? JSON.parse(text) : text;
}

/** Without one, the address is that of another operation: `/groups/` lists the groups. */
function isSegment(value: unknown): boolean {
  return !["", ".", ".."].includes(inUrl(value));
}

/** Lone surrogates have no bytes in a URL. */
function inUrl(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return encodeURIComponent(Buffer.from(text ?? "").toString());
}

/** What is wrong with a response; undefined: nothing. */
export function classify(operation: Operation, { status, type, body }: FuzzResponse): string | undefined {
  if (status === 0) return `no response (${String(body)})`;
  if (status >= 500 && !HONEST.has(status)) return `status ${status}: ${JSON.stringify(body)}`;
  const misfit = operation.misfit(status, type, body);
  return misfit && `status ${status} does not fit the document: ${misfit}`;
}
