import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { startLocalServer } from "./local-server.ts";

/** Settings of a workflow's Webhook node. */
export interface Workflow {
  method?: "GET" | "POST";
  /** The required header, as in a Header Auth credential. */
  auth?: { name: string; value: string };
  /** `onReceived`: at once; `lastNode`, `responseNode`: the workflow's output; `fail`: its last node throws. */
  respond?: "onReceived" | "lastNode" | "responseNode" | "fail";
  output?: unknown;
  /** Content-Type of an output that is no JSON. */
  type?: string;
}

/** Responses during the start: before, during and after n8n's migrations. */
export type BootPhase = "no_database" | "migrating" | "no_workflows";

/** One execution. */
export interface Execution {
  path: string;
  headers: IncomingHttpHeaders;
  raw: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: a story reads what it needs of the payload
  body: any;
}

/** A fake of n8n's webhooks with its exact responses. */
export interface N8nServer {
  readonly url: string;
  readonly executions: Execution[];
  /** Calls without a response yet. */
  readonly pending: number;
  /** Activates a workflow at `/webhook/<path>`. */
  activate(path: string, workflow?: Workflow): void;
  deactivate(path: string): void;
  /** Accepts one call at `/webhook-test/<path>`, as the editor does. */
  listenOnce(path: string): void;
  /**
   * Result of the next calls: a status, a dropped connection after the start or within the response, or no response.
   */
  trouble(
    what:
      | { status: number; headers?: Record<string, string> }
      | "lose_response"
      | "break_off"
      | "no_response",
    times?: number,
    takes?: (body: Execution["body"]) => boolean,
  ): void;
  /** Starts this boot phase; undefined ends it. */
  boot(phase: BootPhase | undefined): void;
  /**
   * Holds the responses of the next calls until the returned function is called. `reset` only stops holding later
   * calls.
   */
  hold(): () => void;
  reset(): void;
  shut(): Promise<void>;
  open(): Promise<void>;
}

const LARGEST_BYTES = 16 * 1024 * 1024;

export async function startN8n(): Promise<N8nServer> {
  const workflows = new Map<string, Workflow>();
  const listening = new Set<string>();
  const executions: Execution[] = [];
  type Troubles = Parameters<N8nServer["trouble"]>;
  let phase: BootPhase | undefined;
  let held: Promise<void> | undefined;
  let pending = 0;
  let troubles: { what: Troubles[0]; left: number; takes: (body: Execution["body"]) => boolean }[] = [];

  function find(request: IncomingMessage, path: string): Workflow | undefined {
    const test = /^\/webhook-test\/(.+)$/.exec(path)?.[1];
    if (test !== undefined) return listening.delete(test) ? {} : undefined;
    const workflow = workflows.get(/^\/webhook\/(.+)$/.exec(path)?.[1] ?? "");
    return workflow && (workflow.method ?? "POST") === request.method ? workflow : undefined;
  }

  function nextTrouble(body: Execution["body"]): Troubles[0] | undefined {
    const trouble = troubles.find((one) => one.left > 0 && one.takes(body));
    if (trouble) trouble.left -= 1;
    return trouble?.what;
  }

  /** Undefined sends no response. */
  function respond(
    request: IncomingMessage,
    path: string,
    raw: Buffer,
  ): WorkflowResponse | "drop" | "break_off" | undefined {
    const body = parse(raw);
    const refused = refusalOf(raw, body);
    if (refused) return refused;
    const workflow = find(request, path);
    if (!workflow) return { status: 404, body: notRegistered(request.method ?? "", path) };
    if (!isLetIn(workflow, request)) return { status: 403, body: "Authorization data is wrong!" };
    const trouble = nextTrouble(body);
    if (typeof trouble === "object") return { ...trouble, body: { message: "trouble" } };
    executions.push({ path, headers: request.headers, raw, body });
    if (trouble === undefined) return responseOf(workflow);
    if (trouble === "break_off") return trouble;
    return trouble === "lose_response" ? "drop" : undefined;
  }

  async function handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // An interrupted request does not count.
    const raw = await buffer(request).catch(() => undefined);
    if (!raw) return;
    const path = new URL(request.url ?? "", "http://n8n").pathname;
    const released = held;
    const answered = phase ? bootResponse(phase, request.method ?? "", path) : respond(request, path, raw);
    await released;
    if (answered === "drop") response.destroy();
    else if (answered === "break_off") breakOff(response);
    else if (answered) write(response, answered);
  }

  const { url, open, shut } = await startLocalServer((request, response) => {
    pending += 1;
    response.on("close", () => {
      pending -= 1;
    });
    void handleRequest(request, response);
  });
  return {
    url,
    executions,
    get pending() {
      return pending;
    },
    activate: (path, workflow = {}) => void workflows.set(path, workflow),
    deactivate: (path) => void workflows.delete(path),
    listenOnce: (path) => void listening.add(path),
    trouble: (what, times = 1, takes = () => true) => void troubles.push({ what, left: times, takes }),
    boot: (next) => {
      phase = next;
    },
    hold: () => {
      let release = () => {};
      held = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
    reset: () => {
      executions.length = 0;
      troubles = [];
      phase = undefined;
      held = undefined;
    },
    shut,
    open,
  };
}

function breakOff(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json", "content-length": 1_000 });
  response.write('{"output": "the beginning of', () => response.destroy());
}

function write(response: ServerResponse, { status, body, headers }: WorkflowResponse): void {
  const isRaw = typeof body === "string" || Buffer.isBuffer(body);
  const type = isRaw ? "text/html; charset=utf-8" : "application/json; charset=utf-8";
  response.writeHead(status, { "content-type": type, ...headers });
  response.end(isRaw ? body : JSON.stringify(body));
}

interface WorkflowResponse {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

function refusalOf(raw: Buffer, body: unknown): WorkflowResponse | undefined {
  if (raw.length > LARGEST_BYTES)
    return { status: 500, body: { code: 0, message: "There was a problem executing the workflow" } };
  return body === undefined
    ? { status: 422, body: { code: 0, message: "Failed to parse request body" } }
    : undefined;
}

function isLetIn({ auth }: Workflow, { headers }: IncomingMessage): boolean {
  return auth === undefined || headers[auth.name.toLowerCase()] === auth.value;
}

/** Source: n8n 2.8.4, `abstract-server`, and Express' page for unknown routes. */
function bootResponse(phase: BootPhase, method: string, path: string): WorkflowResponse {
  if (phase === "migrating") return { status: 200, body: "n8n is starting up. Please wait" };
  if (phase === "no_database") return { status: 503, body: { code: 503, message: "Database is not ready!" } };
  const page = `<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Error</title>\n</head>\n<body>\n<pre>Cannot ${method} ${path}</pre>\n</body>\n</html>\n`;
  return { status: 404, body: page };
}

function responseOf({ respond, output, type }: Workflow): WorkflowResponse {
  if (respond === "fail") return { status: 500, body: { message: "Error in workflow" } };
  const waits = respond === "lastNode" || respond === "responseNode";
  const headers = type === undefined ? {} : { headers: { "content-type": type } };
  return { status: 200, body: waits ? output : { message: "Workflow was started" }, ...headers };
}

function notRegistered(method: string, path: string) {
  const name = path.replace(/^\/webhook(-test)?\//, "");
  return {
    code: 404,
    message: `The requested webhook "${method} ${name}" is not registered.`,
    hint: "The workflow must be active for a production URL to run successfully. You can activate the workflow using the toggle in the top-right of the editor.",
    stacktrace: "ResponseError: The requested webhook is not registered.\n    at ...",
  };
}

function parse(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString("utf8"));
  } catch {
    return undefined;
  }
}
