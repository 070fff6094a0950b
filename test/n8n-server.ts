import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** How a workflow's Webhook node is set up. */
export interface Workflow {
  method?: "GET" | "POST";
  /** Exactly this header, as a Header Auth credential compares it. */
  auth?: { name: string; value: string };
  /** `onReceived`: at once; `lastNode` and `responseNode`: what the workflow says; `fail`: its last node throws. */
  respond?: "onReceived" | "lastNode" | "responseNode" | "fail";
  /** What it says. */
  says?: unknown;
}

/** One start of a workflow. */
export interface Execution {
  path: string;
  headers: IncomingHttpHeaders;
  raw: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: a story reads what it needs of the payload
  body: any;
}

/** A double of n8n's webhooks, with its exact words. */
export interface N8nServer {
  readonly url: string;
  readonly executions: Execution[];
  /** Activates a workflow at `/webhook/<path>`. */
  activate(path: string, workflow?: Workflow): void;
  deactivate(path: string): void;
  /** Lets the editor listen for one call at `/webhook-test/<path>`. */
  listenOnce(path: string): void;
  /** The next calls: a status with a body, a dropped connection after the start, or no answer. */
  trouble(
    what: { status: number; headers?: Record<string, string> } | "lose_answer" | "never_answer",
    times?: number,
    takes?: (body: Execution["body"]) => boolean,
  ): void;
  forget(): void;
  shut(): Promise<void>;
  open(): Promise<void>;
}

const LARGEST_BYTES = 16 * 1024 * 1024;

export async function startN8n(): Promise<N8nServer> {
  const workflows = new Map<string, Workflow>();
  const listening = new Set<string>();
  const executions: Execution[] = [];
  type Troubles = Parameters<N8nServer["trouble"]>;
  let troubles: { what: Troubles[0]; left: number; takes: (body: Execution["body"]) => boolean }[] = [];

  function find(request: IncomingMessage, path: string): Workflow | undefined {
    const test = /^\/webhook-test\/(.+)$/.exec(path)?.[1];
    if (test !== undefined) return listening.delete(test) ? {} : undefined;
    const workflow = workflows.get(/^\/webhook\/(.+)$/.exec(path)?.[1] ?? "");
    return workflow && (workflow.method ?? "POST") === request.method ? workflow : undefined;
  }

  function takeTrouble(body: Execution["body"]): Troubles[0] | undefined {
    const trouble = troubles.find((one) => one.left > 0 && one.takes(body));
    if (trouble) trouble.left -= 1;
    return trouble?.what;
  }

  /** Undefined: it never answers. */
  function respond(request: IncomingMessage, path: string, raw: Buffer): Said | "drop" | undefined {
    const body = parse(raw);
    const refused = refusalOf(raw, body);
    if (refused) return refused;
    const workflow = find(request, path);
    if (!workflow) return { status: 404, said: notRegistered(request.method ?? "", path) };
    if (!isLetIn(workflow, request)) return { status: 403, said: "Authorization data is wrong!" };
    const trouble = takeTrouble(body);
    if (typeof trouble === "object") return { ...trouble, said: { message: "trouble" } };
    executions.push({ path, headers: request.headers, raw, body });
    if (trouble === undefined) return saidBy(workflow);
    return trouble === "lose_answer" ? "drop" : undefined;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // One that was cut off on the way is no request.
    const raw = await buffer(request).catch(() => undefined);
    if (!raw) return;
    const path = new URL(request.url ?? "", "http://n8n").pathname;
    const answered = respond(request, path, raw);
    if (answered === "drop") return void response.destroy();
    if (!answered) return;
    const { status, said, headers } = answered;
    const isText = typeof said === "string";
    response.writeHead(status, { "content-type": isText ? "text/html" : "application/json", ...headers });
    response.end(isText ? said : JSON.stringify(said));
  }

  const server = createServer((request, response) => void answer(request, response));
  let port = 0;
  const open = () => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", () => resolve()));
  await open();
  port = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${port}`,
    executions,
    activate: (path, workflow = {}) => void workflows.set(path, workflow),
    deactivate: (path) => void workflows.delete(path),
    listenOnce: (path) => void listening.add(path),
    trouble: (what, times = 1, takes = () => true) => void troubles.push({ what, left: times, takes }),
    forget: () => {
      executions.length = 0;
      troubles = [];
    },
    shut: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    open,
  };
}

interface Said {
  status: number;
  said: unknown;
  headers?: Record<string, string>;
}

function refusalOf(raw: Buffer, body: unknown): Said | undefined {
  if (raw.length > LARGEST_BYTES)
    return { status: 500, said: { code: 0, message: "There was a problem executing the workflow" } };
  return body === undefined
    ? { status: 422, said: { code: 0, message: "Failed to parse request body" } }
    : undefined;
}

function isLetIn({ auth }: Workflow, { headers }: IncomingMessage): boolean {
  return auth === undefined || headers[auth.name.toLowerCase()] === auth.value;
}

function saidBy({ respond, says }: Workflow): Said {
  if (respond === "fail") return { status: 500, said: { message: "Error in workflow" } };
  const waits = respond === "lastNode" || respond === "responseNode";
  return { status: 200, said: waits ? says : { message: "Workflow was started" } };
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
