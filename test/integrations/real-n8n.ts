import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePortsFor } from "../../src/platform/embedded-postgres/free-ports-for.ts";
import { waitUntil } from "../gateway.ts";
import { makeScratchDir } from "../run/scratch-dir.ts";

const OWNER = { email: "owner@example.com", firstName: "Ana", lastName: "Lima", password: "Correct-horse-1" };
// n8n loads thousands of files, which takes minutes on a busy machine.
const STARTS_WITHIN_MS = 600_000;

export interface WorkflowFile {
  id: string;
  nodes: { name: string; type: string; parameters: Record<string, unknown> }[];
  [field: string]: unknown;
}

/** A real n8n with its own data folder. */
export interface RealN8n {
  readonly url: string;
  /** Imports a workflow file, before the first start. */
  importWorkflow(workflow: WorkflowFile): Promise<void>;
  /** Installs a packed community node, before the first start. */
  installNode(tarball: string): Promise<void>;
  /** Calls the editor's API as the owner. Returns the `data` of the response. */
  // biome-ignore lint/suspicious/noExplicitAny: a story reads what it needs
  request(method: string, path: string, body?: object): Promise<any>;
  /** Session cookie of the owner. */
  signedInCookie(): Promise<string>;
  /** Resolves when webhooks are served. Those of active workflows may come later. */
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Activates a workflow and waits for its webhook. */
  activate(id: string): Promise<void>;
  deactivate(id: string): Promise<void>;
  /** Statuses of a workflow's executions, newest first. */
  executions(id: string): Promise<string[]>;
  stop(): Promise<void>;
}

export async function openN8n(program: string): Promise<RealN8n> {
  const folder = await makeScratchDir();
  const { value: port } = await freePortsFor(`real n8n ${process.pid}`).next();
  const url = `http://127.0.0.1:${port}`;
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: folder.path,
    N8N_USER_FOLDER: folder.path,
    N8N_PORT: String(port),
    N8N_LISTEN_ADDRESS: "127.0.0.1",
    WEBHOOK_URL: `${url}/`,
    N8N_DIAGNOSTICS_ENABLED: "false",
    N8N_VERSION_NOTIFICATIONS_ENABLED: "false",
    N8N_TEMPLATES_ENABLED: "false",
    N8N_PERSONALIZATION_ENABLED: "false",
    N8N_SECURE_COOKIE: "false",
    N8N_RUNNERS_BROKER_PORT: String(Number(port) + 1_000),
    N8N_LOG_LEVEL: "warn",
  };
  let running: ChildProcess | undefined;
  let cookie = "";

  async function call(method: string, path: string, body?: object) {
    const response = await fetch(`${url}/rest${path}`, {
      method,
      // n8n closes idle connections after five seconds, possibly during a request.
      headers: { cookie, "content-type": "application/json", connection: "close" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 300)}`);
    const [set] = response.headers.getSetCookie();
    if (set) cookie = set.split(";", 1)[0] ?? "";
    // biome-ignore lint/suspicious/noExplicitAny: a story reads what it needs
    return (JSON.parse(text) as { data: any }).data;
  }

  async function signIn(): Promise<void> {
    await call("POST", "/owner/setup", OWNER).catch(() =>
      call("POST", "/login", { emailOrLdapLoginId: OWNER.email, password: OWNER.password }),
    );
  }

  function signInWhenReady(): Promise<void> {
    return waitUntil(
      () =>
        signIn().then(
          () => true,
          () => false,
        ),
      STARTS_WITHIN_MS,
    );
  }

  const kill = async () => {
    const child = running;
    running = undefined;
    if (!child || child.exitCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };

  return {
    url,
    async importWorkflow(workflow) {
      const file = join(folder.path, `${workflow.id}.json`);
      await writeFile(file, JSON.stringify([workflow]));
      await promisify(execFile)(process.execPath, [program, "import:workflow", `--input=${file}`], { env });
    },
    async start() {
      running = spawn(process.execPath, [program, "start"], { env, stdio: "ignore" });
      const isUp = () =>
        fetch(`${url}/webhook/nobody`).then(
          ({ headers }) => headers.get("content-type")?.includes("json"),
          () => false,
        );
      await waitUntil(isUp, STARTS_WITHIN_MS);
    },
    kill,
    async installNode(tarball) {
      const nodes = join(folder.path, ".n8n", "nodes");
      await mkdir(nodes, { recursive: true });
      await writeFile(join(nodes, "package.json"), '{"name":"installed-nodes","private":true}\n');
      // n8n itself provides the node's peer dependencies.
      const flags = ["--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund", "--offline"];
      await promisify(execFile)("npm", ["install", ...flags, tarball], { cwd: nodes });
    },
    async request(method, path, body) {
      if (cookie === "") await signInWhenReady();
      return call(method, path, body);
    },
    async signedInCookie() {
      if (cookie === "") await signInWhenReady();
      return cookie;
    },
    async activate(id) {
      await signInWhenReady();
      const { versionId, nodes } = await call("GET", `/workflows/${id}`);
      await call("POST", `/workflows/${id}/activate`, { versionId });
      const webhook = (nodes as WorkflowFile["nodes"]).find(({ type }) => type === "n8n-nodes-base.webhook");
      if (webhook === undefined) return;
      // An unknown method gets another status once the path exists.
      await waitUntil(async () => {
        const response = await fetch(`${url}/webhook/${webhook.parameters.path}`, { method: "DELETE" });
        return (await response.text()).includes("not registered for DELETE");
      });
    },
    async deactivate(id) {
      await call("POST", `/workflows/${id}/deactivate`, {});
    },
    async executions(id) {
      const filter = encodeURIComponent(JSON.stringify({ workflowId: id }));
      const { results } = await call("GET", `/executions?filter=${filter}&limit=100`);
      return (results as { status: string }[]).map(({ status }) => status);
    },
    async stop() {
      await kill();
      await folder.remove();
    },
  };
}
