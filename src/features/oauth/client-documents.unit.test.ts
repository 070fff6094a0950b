import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FileServer, startFileServer } from "../../../test/servers/file-server.ts";
import { createSafeFetch, type SafeFetch } from "../../platform/outgoing/safe-fetch.ts";
import { type ClientDocuments, createClientDocuments, isClientUrl } from "./client-documents.ts";

const URL_OF_CLIENT = "https://client.example";
const REDIRECT_URI = "https://client.example/callback";

let files: FileServer;
let outgoing: SafeFetch;
let documents: ClientDocuments;
let count = 0;

beforeAll(async () => {
  files = await startFileServer();
  outgoing = createSafeFetch({ allowedHosts: ["loopback"] });
  // The host of the client is a server on this machine.
  documents = createClientDocuments({
    fetch: ({ policyKey: _, ...request }) =>
      outgoing.fetch({ ...request, url: files.at(new URL(request.url).pathname) }),
  });
});
afterAll(async () => {
  await outgoing.close();
  await files.close();
});

/** A client whose document is served so. */
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
