import { type Config, isLoopbackUrl } from "../platform/config/config.ts";
import type { Gateway } from "../processes/gateway.ts";

type Owner = Gateway["firstOwner"];

/** The next steps for a user who started the gateway by hand. */
export function bannerLines(
  {
    url,
    database,
    outgoingPolicy,
    firstOwner,
    ignoredSetting,
  }: Pick<Gateway, "url" | "database" | "outgoingPolicy" | "firstOwner" | "ignoredSetting">,
  config: Pick<Config, "host" | "sandbox" | "panel" | "baseUrl">,
): string[] {
  const isEverywhere = config.host === "0.0.0.0" || config.host === "::";
  const where = isEverywhere ? `${url} and every other address of this machine` : url;
  const publicUrl = isLoopbackUrl(config.baseUrl) ? url : config.baseUrl;
  const welcome = config.panel && firstOwner?.welcomeToken;
  const link = welcome ? `${publicUrl}/panel/welcome#${welcome}` : undefined;
  return [
    "",
    `Waygate listens on ${where} (reference: ${url}/docs).`,
    ...(config.panel ? [`Panel: ${publicUrl}/panel/`] : []),
    `Database: ${database}.`,
    `Outgoing requests: ${outgoingPolicy}.`,
    ...linkLines(link),
    ...signInLines(firstOwner, ignoredSetting),
    ...(config.sandbox === "off" || !firstOwner ? [] : sandboxLines(url, firstOwner)),
    "",
  ];
}

function sandboxLines(url: string, owner: Owner): string[] {
  if (!owner?.password) return ["", `A first message in five minutes: ${url}/docs/waygate`];
  return [
    "",
    "Try it without a phone; paste these three lines into a shell. They create and pair an instance, send, and show the reply:",
    "",
    ...curlLines(url, { email: owner.email, password: owner.password }),
    "",
    `Then: webhooks, with a receiver to try them, in the quick start at ${url}/docs/waygate`,
  ];
}

function linkLines(link: string | undefined): string[] {
  if (link === undefined) return [];
  return [
    "",
    "Begin in a browser; this link sets the owner's password. It works once, for 24 hours:",
    "",
    `  ${link}`,
  ];
}

function signInLines(owner: Owner, ignoredSetting: string | undefined): string[] {
  const ignored = ignoredSetting === undefined ? [] : ["", ignoredSetting];
  if (!owner) return ignored;
  const shown = owner.password
    ? `${owner.password}   (shown this once; the panel asks for another one)`
    : owner.welcomeToken === undefined
      ? "as set in WAYGATE_OWNER_PASSWORD"
      : `shown once, in a terminal only. Get a new one with: waygate account password ${owner.email}`;
  const lost = owner.password ? [`If you lose it: waygate account password ${owner.email}`] : [];
  return ["", `Owner's sign-in: ${owner.email}`, `Password:        ${shown}`, ...lost, ...ignored];
}

const JSON_TYPE = `-H 'content-type: application/json'`;
/** curl with a line break after each response. */
const CURL = String.raw`curl -s -w '\n'`;

/** A sed command that extracts a value from a JSON response. */
function take(pattern: string): string {
  return `sed -n 's/.*${pattern}.*/\\1/p'`;
}

/** Shell lines that create, pair and use a sandbox instance; they need curl, sed and a POSIX shell. */
function curlLines(url: string, signIn: { email: string; password: string }): string[] {
  const token = `$(curl -s ${url}/api/auth/login ${JSON_TYPE} -d ${quote(signIn)} | ${take('"token":"\\([^"]*\\)"')})`;
  const made = `$(curl -s ${url}/api/v1/instances -H "authorization: Bearer ${token}" ${JSON_TYPE} -d ${quote({ name: "Sales", network: "sandbox" })})`;
  const values = [
    `ID=$(printf %s "$MADE" | ${take('"data":{"id":\\([0-9]*\\)')})`,
    `KEY=$(printf %s "$MADE" | ${take('"api_key":"\\([^"]*\\)"')})`,
  ];
  const text = { number: "5511999990004", text: "Hello" };
  const shop = `${url}/api/v1/instances/$ID`;
  return [
    `MADE=${made}; ${values.join("; ")}; printf '%s\\n' "$MADE"`,
    `${CURL} -X POST ${shop}/sandbox/scan -H "x-api-key: $KEY"`,
    `${CURL} ${shop}/send-text -H "x-api-key: $KEY" ${JSON_TYPE} -d ${quote(text)}; ${awaitEcho(shop)}`,
  ];
}

/** Prints the newest message once it is the response, which takes a moment. */
function awaitEcho(shop: string): string {
  return `for N in $(seq 20); do curl -s "${shop}/messages?limit=1" -H "x-api-key: $KEY" | grep echo: && break; sleep 1; done`;
}

/** Quotes JSON as one argument for a POSIX shell. */
function quote(body: Record<string, string>): string {
  return `'${JSON.stringify(body).replaceAll("'", `'\\''`)}'`;
}
