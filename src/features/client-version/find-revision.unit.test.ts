import { describe, expect, test } from "vitest";
import { serviceWorkerOf } from "../../../test/servers/web-client-server.ts";
import { BUILT_IN_REVISION, findRevision, findRevisionProblem } from "./find-revision.ts";

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
