import { request } from "node:http";
import { createAccessTokens } from "../../src/core/accounts/access/access-tokens.ts";
import { createAuthorise } from "../../src/core/accounts/access/authorise.ts";
import { accountHandlers } from "../../src/core/accounts/account-handlers.ts";
import { accountsContract } from "../../src/core/accounts/contract.ts";
import { createSignInHandlers } from "../../src/core/accounts/sign-in/sign-in.ts";
import { createPasswordHasher } from "../../src/core/accounts/users/password-hasher.ts";
import type { Db } from "../../src/platform/db/database.ts";
import { createHttpServer } from "../../src/platform/http/server/http-server.ts";
import { createLog } from "../../src/platform/log/log.ts";

/** Signs the tokens. */
export const SECRET = "s".repeat(43);

/** A response with the headers that a browser sees. */
export interface RawResponse {
  status: number;
  cookies: string[];
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it needs of a body
  body: any;
}

export interface AccountServer {
  /** Host and port. */
  host: string;
  /** Sends exactly these headers. A list repeats a header. */
  send(route: string, headers?: Record<string, string | string[]>, body?: object): Promise<RawResponse>;
  close(): Promise<void>;
}

/** Serves only the routes of accounts, on the test's database. */
export async function serveAccounts(db: Db): Promise<AccountServer> {
  const tokens = createAccessTokens({ secretKey: SECRET, lifetimeSeconds: 43_200 });
  const access = createAuthorise({ db, tokens });
  const passwords = createPasswordHasher();
  const signIn = createSignInHandlers({ db, tokens, passwords, secrets: [SECRET] });
  const engine = { wake() {}, publish() {}, subscribe: () => () => {} };
  const server = await createHttpServer({
    contract: accountsContract,
    handlers: accountHandlers({ db, engine, access, passwords, signIn, tokens, closesThisMachine: false }),
    authorise: access.authorise,
    log: createLog("silent"),
    strictOutput: true,
    bodyLimitBytes: 100_000,
  });
  const { port } = await server.listen("127.0.0.1", 0);
  return {
    host: `127.0.0.1:${port}`,
    send: (route, headers, body) => send(port, route, headers, body),
    close: () => server.close(),
  };
}

function send(
  port: number,
  route: string,
  headers: Record<string, string | string[]> = {},
  body?: object,
): Promise<RawResponse> {
  const [method, path] = route.split(" ");
  const text = body && JSON.stringify(body);
  const type = text === undefined ? {} : { "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: "127.0.0.1", port, method, path, headers: { ...type, ...headers } },
      (response) => {
        let received = "";
        response.setEncoding("utf8").on("data", (part: string) => {
          received += part;
        });
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            cookies: response.headers["set-cookie"] ?? [],
            body: JSON.parse(received),
          }),
        );
      },
    );
    sent.on("error", reject);
    sent.end(text);
  });
}
