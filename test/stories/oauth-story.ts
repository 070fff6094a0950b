import { createHash, randomBytes } from "node:crypto";
import { unescapeHtml } from "../../src/extensions/public-pages/page-layout.ts";
import { startTestGateway, type TestGateway } from "../gateway.ts";
import { OWNER } from "../sign-in.ts";

/** Public URL of the gateway. Requests to it reach the test gateway. */
export const PUBLIC_URL = "https://waygate.test";
export const RESOURCE = `${PUBLIC_URL}/mcp`;
export const REDIRECT_URI = "https://assistant.example/callback";

export type OAuthParameters = Record<string, string>;

/** The user's input on the two pages. */
export interface Consent {
  email?: string;
  password?: string;
  instances: readonly number[];
  scopes: readonly ("read" | "send" | "groups")[];
  decision?: "allow" | "deny";
}

export interface IssuedTokens {
  access_token: string;
  refresh_token: string;
  scope: string;
  expires_in: number;
}

/** A gateway with OAuth, and the steps of a client and its user. */
export interface OAuthStory {
  readonly gateway: TestGateway;
  /** `fetch` that maps the public URL to the gateway and follows no redirects. */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  post(path: string, fields: OAuthParameters, headers?: Record<string, string>): Promise<Response>;
  register(metadata?: object): Promise<string>;
  /** An authorization request with its PKCE verifier. */
  request(client_id: string, changes?: OAuthParameters): { url: URL; verifier: string };
  /** Signs in and decides. Returns the redirect URL. */
  consent(url: URL, consent: Consent): Promise<URL>;
  /** The complete flow without a client library. */
  connect(consent: Consent): Promise<IssuedTokens & { client_id: string }>;
  /** An MCP request with a token. */
  askMcp(access_token: string, method: string, params?: object): Promise<Response>;
  listTools(access_token: string): Promise<Response>;
  stop(): Promise<void>;
}

export async function startOAuthStory(env: Record<string, string> = {}): Promise<OAuthStory> {
  const gateway = await startTestGateway({ WAYGATE_BASE_URL: PUBLIC_URL, WAYGATE_SANDBOX: "on", ...env });

  const story: OAuthStory = {
    gateway,
    fetch(url, init) {
      const { pathname, search } = new URL(url, PUBLIC_URL);
      return fetch(`${gateway.url}${pathname}${search}`, { redirect: "manual", ...init });
    },
    post: (path, fields, headers = {}) =>
      story.fetch(path, { method: "POST", headers, body: new URLSearchParams(fields) }),
    async register(metadata = { client_name: "Claude", redirect_uris: [REDIRECT_URI] }) {
      const response = await story.fetch("/oauth/register", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(metadata),
      });
      return ((await response.json()) as { client_id: string }).client_id;
    },
    request(client_id, changes = {}) {
      const verifier = randomBytes(32).toString("base64url");
      const url = new URL("/oauth/authorize", PUBLIC_URL);
      const parameters = {
        response_type: "code",
        client_id,
        redirect_uri: REDIRECT_URI,
        state: "st1",
        code_challenge: createHash("sha256").update(verifier).digest("base64url"),
        code_challenge_method: "S256",
        resource: RESOURCE,
        ...changes,
      };
      for (const [name, value] of Object.entries(parameters))
        if (value !== "") url.searchParams.set(name, value);
      return { url, verifier };
    },
    consent: (url, consent) => decide(story, url, consent),
    async connect(consent) {
      const client_id = await story.register();
      const { url, verifier } = story.request(client_id);
      const code = (await story.consent(url, consent)).searchParams.get("code") ?? "";
      const response = await story.post("/oauth/token", {
        grant_type: "authorization_code",
        client_id,
        code,
        code_verifier: verifier,
        redirect_uri: REDIRECT_URI,
        resource: RESOURCE,
      });
      return { ...((await response.json()) as IssuedTokens), client_id };
    },
    askMcp: (access_token, method, params) =>
      story.fetch("/mcp", {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${access_token}` },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      }),
    listTools: (access_token) => story.askMcp(access_token, "tools/list"),
    stop: () => gateway.stop(),
  };
  return story;
}

async function decide(story: OAuthStory, url: URL, consent: Consent): Promise<URL> {
  const { email = OWNER.email, password = OWNER.password, instances, scopes, decision = "allow" } = consent;
  const hidden = hiddenFields(await (await story.fetch(url)).text());
  const signedIn = await story.post("/oauth/authorize", { ...hidden, email, password });
  const choices = [...instances.map((id) => `instance.${id}`), ...scopes.map((scope) => `scope.${scope}`)];
  const response = await story.post("/oauth/consent", {
    ...hiddenFields(await signedIn.text()),
    ...Object.fromEntries(choices.map((name) => [name, "on"])),
    decision,
  });
  const location = response.headers.get("location");
  if (location === null)
    throw new Error(`The consent was refused with ${response.status}: ${await response.text()}`);
  return new URL(location);
}

/** Hidden fields of a page's form. */
export function hiddenFields(html: string): OAuthParameters {
  const found = html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g);
  return Object.fromEntries([...found].map(([, name = "", value = ""]) => [name, unescapeHtml(value)]));
}
