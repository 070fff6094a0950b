import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FileServer, startFileServer } from "../../../test/servers/file-server.ts";
import { createSafeFetch, type SafeFetch } from "../../platform/outgoing/safe-fetch.ts";
import { type ClientDocuments, createClientDocuments, isClientUrl } from "./client-documents.ts";
import { parseClientMetadata } from "./client-metadata.ts";
import {
  describeRedirect,
  findRedirectUriProblem,
  isRegisteredRedirectUri,
  policySourceOf,
} from "./redirect-uris.ts";

const redirect_uris = ["https://client.example/callback"];
const nameOf = (client_name: string) => parseClientMetadata({ redirect_uris, client_name }).name;

test.each([
  ["  Claude\n\tfor you ", "Claude for you"],
  ["Bank\u202eknaB", "Bank knaB"],
  ["a\u200bb\u0000c\u2028d", "a b c d"],
  ["", "An application without a name"],
  ["\u200b", "An application without a name"],
  ["Ação 日本語", "Ação 日本語"],
])("the name %j of an application is shown as %j", (given, shown) => {
  expect(nameOf(given)).toBe(shown);
});

test("a long name is cut without breaking a character, and a very long one is refused", () => {
  expect(nameOf("😀".repeat(90))).toBe("😀".repeat(80));
  expect(() => nameOf("x".repeat(501))).toThrow("client_name");
});

test.each([
  undefined,
  null,
  5,
  "text",
  [],
  {},
  { redirect_uris: {} },
  { redirect_uris: [1] },
  { redirect_uris: Array(21).fill(redirect_uris[0]) },
  { redirect_uris, client_name: 5 },
])("metadata like %j is refused", (value) => {
  expect(() => parseClientMetadata(value)).toThrow(/RFC 7591/);
});

describe("a redirect address", () => {
  test.each([
    "https://claude.ai/api/mcp/auth_callback",
    "https://assistant.example:8443/callback?x=1",
    "http://127.0.0.1/callback",
    "http://localhost:33418/",
    "http://[::1]:1234/callback",
    "cursor://anysphere.cursor-retrieval/oauth/user-agent/callback",
    "com.example.app:/callback",
    "vscode://an.extension/callback",
  ])("is accepted as %s", (uri) => {
    expect(findRedirectUriProblem(uri)).toBeUndefined();
  });

  test.each([
    "",
    "callback",
    "//evil.example/",
    "http://assistant.example/",
    "http://127.0.0.1.evil.example/",
    "http://127.1/callback#",
    "https://a.example/#fragment",
    "https://user@a.example/",
    "https://user:password@a.example/",
    "https://a.example/ b",
    "https://a.example/\r\nset-cookie:a",
    "https://a;script-src.example/",
    "https://",
    "javascript:alert(1)",
    "JAVASCRIPT:alert(1)",
    "data:text/html,a",
    "file:///etc/passwd",
    "blob:https://a.example/1",
    "vbscript:a",
    "ws://a.example/",
    "ms-msdt:/id%20x",
    "ms-officecmd:x",
    "search-ms:query",
    "steam://run/1",
    "https://bücher.example/",
    `https://a.example/${"x".repeat(2_000)}`,
  ])("is refused as %j", (uri) => {
    expect(findRedirectUriProblem(uri)).toEqual(expect.any(String));
  });
});

describe("a redirect address of a request", () => {
  test.each([
    ["https://a.example/cb", "https://a.example/cb"],
    ["http://127.0.0.1/cb", "http://127.0.0.1:50123/cb"],
    ["http://localhost:1/cb?x=1", "http://localhost:65535/cb?x=1"],
    ["http://[::1]/cb", "http://[::1]:9/cb"],
  ])("fits the registered %s as %s", (registered, uri) => {
    expect(isRegisteredRedirectUri(["https://other.example/", registered], uri)).toBe(true);
  });

  test.each([
    ["https://a.example/cb", "https://a.example/cb/"],
    ["https://a.example/cb", "https://a.example:443/cb"],
    ["https://a.example/cb", "https://A.example/cb"],
    ["https://a.example/cb", "https://a.example/cb?code=1"],
    ["https://a.example/cb", "https://a.example/x/../cb"],
    ["https://a.example:1/cb", "https://a.example:2/cb"],
    ["http://127.0.0.1/cb", "http://localhost/cb"],
    ["http://127.0.0.1/cb", "http://127.0.0.1:80/other"],
    ["http://127.0.0.1/cb", "http://127.0.0.1:80@evil.example/cb"],
    ["http://127.0.0.1/cb", "https://127.0.0.1/cb"],
    ["http://localhost/cb", "http://localhost:99999/cb"],
  ])("does not fit the registered %s as %s", (registered, uri) => {
    expect(isRegisteredRedirectUri([registered], uri)).toBe(false);
  });
});

test("a page says where the browser goes, and its policy permits only that place", () => {
  const shown = (uri: string) => [describeRedirect(uri), policySourceOf(uri)];
  expect(shown("https://a.example:8443/cb")).toEqual(["a.example:8443", "https://a.example:8443"]);
  expect(shown("http://127.0.0.1:5/cb")).toEqual([
    "a program on your own computer (127.0.0.1)",
    "http://127.0.0.1:5",
  ]);
  expect(shown("http://[::1]:5/cb")).toEqual(["a program on your own computer ([::1])", "http:"]);
  expect(shown("cursor://x/cb")).toEqual(["the program that opens cursor: links", "cursor:"]);
});

const URL_OF_CLIENT = "https://client.example";
const REDIRECT_URI = "https://client.example/callback";

let files: FileServer;
let outgoing: SafeFetch;
let documents: ClientDocuments;
let count = 0;

beforeAll(async () => {
  files = await startFileServer();
  outgoing = createSafeFetch({ allowedHosts: ["loopback"] });
  // The client's host is a server on this machine.
  documents = createClientDocuments({
    fetch: ({ policyKey: _, ...request }) =>
      outgoing.fetch({ ...request, url: files.at(new URL(request.url).pathname) }),
  });
});
afterAll(async () => {
  await outgoing.close();
  await files.close();
});

/** A client whose document is served by `how`. */
function clientWith(how: (response: ServerResponse, url: string) => void): string {
  const path = `/client-${count++}.json`;
  const url = `${URL_OF_CLIENT}${path}`;
  files.serve(path, (response) => how(response, url));
  return url;
}

function serveJson(change: (document: Record<string, unknown>) => unknown = (document) => document) {
  return clientWith((response, client_id) => {
    const document = { client_id, client_name: "Claude", redirect_uris: [REDIRECT_URI] };
    response.setHeader("content-type", "application/json").end(JSON.stringify(change(document)));
  });
}

describe("the document of a client", () => {
  test("gives its name and redirect addresses, and is read once in ten minutes", async () => {
    const url = serveJson();
    const expected = { name: "Claude", redirect_uris: [REDIRECT_URI] };
    expect(await Promise.all([documents.get(url), documents.get(url)])).toEqual([expected, expected]);
    expect(await documents.get(url)).toEqual(expected);
    expect(files.asked.filter((path) => url.endsWith(path))).toHaveLength(1);
  });

  test.each<[string, () => string, string]>([
    [
      "for another client",
      () => serveJson((one) => ({ ...one, client_id: "https://a.example/" })),
      "names another",
    ],
    ["without a client id", () => serveJson(({ client_id: _, ...one }) => one), "no valid client_id"],
    ["with a secret", () => serveJson((one) => ({ ...one, client_secret: "s" })), "it has a secret"],
    [
      "that wants to sign in with a key",
      () => serveJson((one) => ({ ...one, token_endpoint_auth_method: "private_key_jwt" })),
      "is not none",
    ],
    [
      "with a script to go to",
      () => serveJson((one) => ({ ...one, redirect_uris: ["javascript:a"] })),
      "redirect",
    ],
    [
      "without redirect addresses",
      () => serveJson((one) => ({ ...one, redirect_uris: [] })),
      "redirect_uris",
    ],
    ["that is a list", () => serveJson((one) => [one]), "no valid client_id"],
    ["that is null", () => serveJson(() => null), "no valid client_id"],
    [
      "that is too long",
      () => serveJson((one) => ({ ...one, more: "x".repeat(11_000) })),
      "longer than 10240",
    ],
    ["that is absent", () => clientWith((response) => response.writeHead(404).end()), "the status 404"],
    [
      "that is elsewhere",
      () => clientWith((response) => response.writeHead(302, { location: REDIRECT_URI }).end()),
      "the status 302",
    ],
    [
      "that is a page",
      () => clientWith((response) => response.setHeader("content-type", "text/html").end("{}")),
      "it is not JSON",
    ],
    [
      "that is broken",
      () => clientWith((response) => response.setHeader("content-type", "application/json").end("{")),
      "it is not JSON",
    ],
    [
      "that is not encoded in UTF-8",
      () =>
        clientWith((response) =>
          response.setHeader("content-type", "application/json").end(Buffer.from([0x22, 0xff, 0x22])),
        ),
      "it is not JSON",
    ],
    ["whose server hangs up", () => clientWith((response) => response.destroy()), "cannot be reached"],
  ])("%s is refused", async (_, serve, reason) => {
    await expect(documents.get(serve())).rejects.toThrow(reason);
  });

  test("is read again after a failure", async () => {
    let isBroken = true;
    const url = clientWith((response, client_id) => {
      if (isBroken) response.writeHead(500).end();
      else
        response
          .setHeader("content-type", "application/json; charset=utf-8")
          .end(JSON.stringify({ client_id, redirect_uris: [REDIRECT_URI] }));
    });
    await expect(documents.get(url)).rejects.toThrow("the status 500");
    isBroken = false;
    expect((await documents.get(url)).name).toBe("An application without a name");
  });
});

describe("a client id", () => {
  test.each([
    "https://client.example/oauth/client.json",
    "https://client.example:8443/c?v=1",
    "https://client.example/a%20b",
  ])("is the address of a document as %s", (id) => {
    expect(isClientUrl(id)).toBe(true);
  });

  test.each([
    "oac_AAAAAAAAAAAAAAAAAAAAAA",
    "http://client.example/c",
    "https://client.example",
    "https://client.example/",
    "https://user@client.example/c",
    "https://client.example/c#fragment",
    "https://client.example/a/../c",
    "https://client.example/./c",
    "https://client.example/%2e%2e/c",
    "https://CLIENT.example/c",
    "https://client.example:443/c",
    "https://client.example/c\r\nhost: a",
    'https://client.example/"c',
    `https://client.example/${"c".repeat(500)}`,
  ])("is no address of a document as %j", (id) => {
    expect(isClientUrl(id)).toBe(false);
  });
});
