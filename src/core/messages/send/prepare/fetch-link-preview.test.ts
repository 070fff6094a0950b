import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { drip, type FileServer, file, startFileServer } from "../../../../../test/servers/file-server.ts";
import { createSafeFetch, type SafeFetch } from "../../../../platform/outgoing/safe-fetch.ts";
import { fetchLinkPreview, firstLink } from "./fetch-link-preview.ts";

let server: FileServer;
let outgoing: SafeFetch;

beforeAll(async () => {
  server = await startFileServer();
});
beforeEach(() => {
  outgoing = createSafeFetch({ allowedHosts: ["loopback"] });
  server.asked.length = 0;
  return () => outgoing.close();
});
afterAll(() => server.close());

const page = (...head: string[]) =>
  file(Buffer.from(`<html><head>${head.join("\n")}</head></html>`), "text/html");
const og = (name: string, content: string) => `<meta property="og:${name}" content="${content}">`;
const preview = (text: string, totalMs = 60_000, account_id = 1) =>
  fetchLinkPreview(text, { outgoing, tenant: { account_id }, totalMs });

describe("the preview of a link", () => {
  test("has a title, a description and a small picture, also after redirects", async () => {
    const picture = await sharp({ create: { width: 800, height: 400, channels: 3, background: "red" } })
      .png()
      .toBuffer();
    server.serve("/shoes.png", file(picture, "image/png"));
    server.serve(
      "/shoes",
      page(og("title", "Shoes"), og("description", "Blue &amp; red"), og("image", "/shoes.png")),
    );
    const short = server.serve("/s", (response) => response.writeHead(302, { location: "/shoes" }).end());
    const found = await preview(`Look: ${short}.`);
    expect(found).toMatchObject({ url: short, title: "Shoes", description: "Blue & red" });
    const { format, width } = await sharp(Buffer.from(found?.thumbnail ?? "", "base64")).metadata();
    expect([format, width]).toEqual(["jpeg", 192]);
  });

  test("has no picture if the picture is invalid or too large", async () => {
    server.serve("/huge.png", file(Buffer.alloc(1024 * 1024 + 1), "image/png"));
    for (const image of ["/huge.png", "/nothing.png", "data:image/png;base64,AAAA"]) {
      const link = server.serve("/p", page(og("title", "Page"), og("image", image)));
      expect(await preview(link)).toEqual({ url: link, title: "Page" });
    }
  });

  test.each([
    ["of a page that arrives slowly", drip("text/html")],
    ["of a page that never responds", () => {}],
    ["of a file that is not a page", file(Buffer.from("%PDF"), "application/pdf")],
    ["of a page without a title", file(Buffer.from("<p>Hi</p>"), "text/html")],
    [
      "of a page that redirects in circles",
      (r: import("node:http").ServerResponse) => r.writeHead(302, { location: "/x" }).end(),
    ],
  ])("%s is absent and causes no failure", async (_, serve) => {
    expect(await preview(server.serve("/x", serve), 300)).toBeUndefined();
  });

  test("reads at most 256 KiB of a page", async () => {
    const link = server.serve("/long", page("<!--".padEnd(262_144, "x"), og("title", "Too late")));
    expect(await preview(link)).toBeUndefined();
  });

  test("follows a redirect to another host and fetches pictures from there", async () => {
    const other = await startFileServer();
    const far = other.serve("/far", page(og("title", "Far"), og("image", "/far.png")));
    const near = server.serve("/near", (response) => response.writeHead(307, { location: far }).end());
    expect(await preview(near)).toEqual({ url: near, title: "Far" });
    expect(other.asked).toHaveLength(2);
    await other.close();
  });

  test("can be fetched for other accounts while one account's pages never respond", async () => {
    const other = await startFileServer();
    const slow = other.serve("/slow", () => {});
    const quick = server.serve("/quick", page(og("title", "Quick")));
    const hanging = Array.from({ length: 40 }, () => preview(slow));
    expect(await preview(quick, 60_000, 2)).toEqual({ url: quick, title: "Quick" });
    await other.close();
    expect(await Promise.all(hanging)).toEqual(hanging.map(() => undefined));
  });

  test("is not fetched from an address that the policy forbids, directly or by a redirect", async () => {
    await outgoing.close();
    outgoing = createSafeFetch({ allowedHosts: ["external"] });
    expect(await preview(server.serve("/inside", page(og("title", "Inside"))))).toBeUndefined();
    expect(server.asked).toEqual([]);
  });
});

test.each([
  ["see https://a.example/x?y=1, or http://b.example", "https://a.example/x?y=1"],
  ["(https://a.example/b)", "https://a.example/b"],
  ["HTTPS://A.example", "HTTPS://A.example"],
  ["no link: ftp://a.example", undefined],
  ["https://", undefined],
  [`https://a.example/${"x".repeat(3000)}`, undefined],
])("the first link of %j is found if there is one", (text, link) => expect(firstLink(text)).toBe(link));
