import type { Config } from "../platform/config.ts";
import type { Gateway } from "./gateway.ts";

type Owner = Gateway["firstOwner"];

/** What whoever has started the gateway by hand needs next. */
export function bannerLines(
  {
    url,
    database,
    outgoingCalls,
    firstOwner,
  }: Pick<Gateway, "url" | "database" | "outgoingCalls" | "firstOwner">,
  config: Pick<Config, "host" | "ownerEmail" | "sandbox">,
): string[] {
  const isEverywhere = config.host === "0.0.0.0" || config.host === "::";
  const where = isEverywhere ? `${url} and every other address of this machine` : url;
  return [
    "",
    `Waygate listens on ${where} (reference: ${url}/docs).`,
    `Database: ${database}.`,
    `Outgoing calls: ${outgoingCalls}.`,
    ...signInLines(firstOwner),
    ...(config.sandbox === "off" ? [] : sandboxLines(url, firstOwner, config.ownerEmail)),
    "",
  ];
}

function sandboxLines(url: string, owner: Owner, ownerEmail: string | undefined): string[] {
  return [
    "",
    `Try it without a phone; paste these three lines into a shell${owner?.password ? "" : " with your own sign-in"}:`,
    "",
    ...curlLines(url, owner, ownerEmail),
  ];
}

function signInLines(owner: Owner): string[] {
  if (!owner) return [];
  const shown = owner.password
    ? `${owner.password}   (shown this once; change it after you sign in)`
    : "as set in WAYGATE_OWNER_PASSWORD";
  return ["", `Owner's sign-in: ${owner.email}`, `Password:        ${shown}`];
}

const JSON_TYPE = `-H 'content-type: application/json'`;
const READ = "JSON.parse(fs.readFileSync(0))";
/** What the shell makes of the answer: two variables, or the refusal on the screen. */
const KEEP = `d?"ID="+d.id+" KEY="+d.api_key:"echo "+JSON.stringify(r.message)`;

/** Three lines that create, pair and use a sandbox instance; they need curl, node and a POSIX shell. */
function curlLines(url: string, owner: Owner, ownerEmail = "EMAIL"): string[] {
  const signIn = { email: owner?.email ?? ownerEmail, password: owner?.password ?? "PASSWORD" };
  const token = `$(curl -s ${url}/api/auth/login ${JSON_TYPE} -d ${quote(signIn)} | node -pe '${READ}.token')`;
  const made = `curl -s ${url}/api/v1/instances -H "authorization: Bearer ${token}" ${JSON_TYPE} -d ${quote({ name: "Sales", network: "sandbox" })}`;
  const text = { number: "5511999990004", text: "Hello" };
  return [
    `eval $(${made} | node -pe 'r=${READ},d=r.data,${KEEP}')`,
    `curl -s -X POST ${url}/api/v1/instances/$ID/sandbox/scan -H "x-api-key: $KEY"`,
    `curl -s ${url}/api/v1/instances/$ID/send-text -H "x-api-key: $KEY" ${JSON_TYPE} -d ${quote(text)}`,
  ];
}

/** JSON as one word of a POSIX shell. */
function quote(body: Record<string, string>): string {
  return `'${JSON.stringify(body).replaceAll("'", `'\\''`)}'`;
}
