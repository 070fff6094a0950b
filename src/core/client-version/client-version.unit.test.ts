import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  serviceWorkerOf,
  startWebClientServer,
  type WebClientServer,
} from "../../../test/servers/web-client-server.ts";
import { createSafeFetch, type SafeFetch } from "../../platform/outgoing/safe-fetch.ts";
import { plausibleExpiration } from "./client-version-updater.ts";
import {
  BUILT_IN_REVISION,
  findListedProblem,
  findListedRevision,
  findRevision,
  findRevisionProblem,
} from "./find-revision.ts";
import { searchRevision } from "./search-revision.ts";
import { findDueWarning } from "./warn-of-expiration.ts";

describe("findRevision", () => {
  test.each([
    ["the service worker, JSON within a string", serviceWorkerOf(1_050_000_001), 1_050_000_001],
    ["the page", '{"server_revision":1,"client_revision":1050000002,"x":1}', 1_050_000_002],
    ["spaces around the colon", '"client_revision" : 1050000003;', 1_050_000_003],
    ["a name before it without a number", 'client_revision, "client_revision":1050000004,', 1_050_000_004],
    ["a number that may be cut off at the end", '"client_revision":10500', undefined],
    ["a number of thirteen digits", '"client_revision":1050000005000,', undefined],
    ["a text in place of the number", '"client_revision":"1050000006",', undefined],
    ["another name", '"server_revision":1050000007,', undefined],
    ["nothing", "", undefined],
  ])("reads %s", (_what, text, revision) => {
    expect(findRevision(text)).toBe(revision);
  });

  test("finishes long texts that are made to slow it down", () => {
    for (const part of ['client_revision\\\\" ', 'client_revision": ', "client_revision", "\\", " ", "1"]) {
      const text = `client_revision":${part.repeat(2_000_000)}`;
      expect(findRevision(text), part).toBeUndefined();
    }
  });
});

describe("findFault", () => {
  test.each([
    ["the built-in one", BUILT_IN_REVISION, null, undefined],
    ["a newer one", BUILT_IN_REVISION + 1, BUILT_IN_REVISION, undefined],
    ["the one that was found before", BUILT_IN_REVISION + 5, BUILT_IN_REVISION + 5, undefined],
    ["one before the built-in", BUILT_IN_REVISION - 1, null, "older than the built-in"],
    ["one before the one found before", BUILT_IN_REVISION + 4, BUILT_IN_REVISION + 5, "was found before"],
    ["the seconds since 1970", 1_795_000_000, null, "too high"],
    ["zero", 0, null, "older than the built-in"],
  ])("classifies %s", (_what, revision, known, fault) => {
    if (fault === undefined) expect(findRevisionProblem(revision, known)).toBeUndefined();
    else expect(findRevisionProblem(revision, known)).toContain(fault);
  });
});

const NEWER = BUILT_IN_REVISION + 70_000;

let web: WebClientServer;
let outgoing: SafeFetch;

beforeAll(async () => {
  web = await startWebClientServer(NEWER);
  outgoing = createSafeFetch({ allowedHosts: ["loopback"] });
});

afterAll(async () => {
  await outgoing.close();
  await web.close();
});

beforeEach(() => {
  web.publish(NEWER);
  web.requests.length = 0;
});

const search = (known: number | null = null, totalMs?: number) =>
  searchRevision({ outgoing, origin: web.origin, known, totalMs });
const paths = () => web.requests.map(({ path }) => path);

const text = (body: string) => (response: ServerResponse) => void response.end(body);
const hang = () => {};
/** The version comes after the part that is read. */
const oversized = (response: ServerResponse): void =>
  void response.end(" ".repeat(3 * 1024 * 1024) + serviceWorkerOf(NEWER));

describe("The search for a client revision", () => {
  test("reads the service worker as a browser would", async () => {
    expect(await search()).toEqual({ revision: NEWER });
    expect(paths()).toEqual(["/sw.js"]);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ["is HTTP 400", (response) => void response.writeHead(400).end("Sorry")],
    ["is a redirect", (response) => void response.writeHead(302, { location: "/other" }).end()],
    ["is garbage", text("\u0000\ufffd<html>")],
    ["is too large", oversized],
    ["names an older revision than the built-in", text(serviceWorkerOf(BUILT_IN_REVISION - 1))],
    ["names a number that is no revision", text(serviceWorkerOf(1_795_000_000))],
    ["breaks off", (response) => void response.socket?.destroy()],
  ])("reads the page when the service worker %s", async (_what, how) => {
    web.respond("/sw.js", how);
    expect(await search()).toEqual({ revision: NEWER });
    expect(paths()).toEqual(["/sw.js", "/"]);
  });

  test("reports why it found nothing in either place", async () => {
    web.respond("/sw.js", (response) => void response.writeHead(400).end());
    web.respond("/", text("nothing"));
    expect(await search()).toEqual({
      problem: "/sw.js: The response was HTTP 400. /: The response contains no client revision.",
    });
  });

  test("gives up on a server that does not respond", async () => {
    web.respond("/sw.js", hang);
    web.respond("/", hang);
    expect(await search(null, 100)).toEqual({ problem: "No response within the time limit." });
  });

  test("rejects a revision that is older than the one found before", async () => {
    expect(await search(NEWER + 1)).toEqual({ problem: expect.stringContaining(`older than ${NEWER + 1}`) });
    expect(await search(NEWER)).toEqual({ revision: NEWER });
  });

  test("sends no request if the outgoing policy forbids it", async () => {
    const closed = createSafeFetch({ allowedHosts: ["example.com"] });
    const found = await searchRevision({ outgoing: closed, origin: web.origin, known: null });
    expect(found).toEqual({ problem: expect.stringContaining("not allowed") });
    expect(web.requests).toEqual([]);
    await closed.close();
  });
});

describe("a list of versions", () => {
  test.each([
    ['{"currentBeta":null,"currentVersion":"2.3000.1045818043-alpha","versions":[]}', 1_045_818_043],
    ['{"currentVersion" : "2.3000.1045818043"}', 1_045_818_043],
    ['{"currentVersion":"2.2999.1045818043"}', undefined],
    ['{"currentVersion":"2.3000.1045818043; rm"}', undefined],
    ['{"versions":["2.3000.1045818043"]}', undefined],
    ["", undefined],
  ])("%s names %s", (text, revision) => {
    expect(findListedRevision(text)).toBe(revision);
  });

  test.each([
    [BUILT_IN_REVISION + 7_000_000, undefined],
    [BUILT_IN_REVISION + 20_000_000, "too high for today"],
    [BUILT_IN_REVISION - 1, "older than the built-in"],
  ])("may name %s in November 2026: %s", (revision, problem) => {
    const found = findListedProblem(revision, Date.UTC(2026, 10, 28));
    if (problem === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(problem);
  });
});

const NOW = Date.UTC(2026, 10, 28);
const inDays = (days: number) => new Date(NOW + days * 86_400_000);

describe("the announced end of a client version", () => {
  test.each([
    ["is kept if it is in ten days", inDays(10), inDays(10)],
    ["counts as three days if it is tomorrow", inDays(1), inDays(3)],
    ["counts as three days if it is over", inDays(-400), inDays(3)],
    ["is ignored if it is in 2106", new Date(4_294_967_295_000), undefined],
    ["is ignored if it is the beginning of time", new Date(0), undefined],
    ["is ignored if it is no time", new Date(Number.NaN), undefined],
  ])("%s", (_what, announced, stored) => {
    expect(plausibleExpiration(announced, NOW)).toEqual(stored);
  });

  test.each([
    [15, undefined],
    [14, 14],
    [8, 14],
    [7, 7],
    [2.5, 3],
    [0.5, 1],
    [-1, 1],
  ])("in %s days asks for the warning of %s days", (days, warning) => {
    expect(findDueWarning(inDays(days), NOW)).toBe(warning);
  });
});
