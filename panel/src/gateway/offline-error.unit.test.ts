import { afterEach, expect, test, vi } from "vitest";
import { OfflineError, reportingOffline } from "./to-request-error.ts";

afterEach(() => vi.unstubAllGlobals());

function fetchWhile(isOnline: boolean, send: typeof fetch): typeof fetch {
  vi.stubGlobal("navigator", { onLine: isOnline });
  return reportingOffline(send);
}

const lose: typeof fetch = () => Promise.reject(new TypeError("Failed to fetch"));
const POST = { method: "POST" };

test("a change without a network is reported as one that has not left the browser", async () => {
  await expect(fetchWhile(false, lose)("/x", POST)).rejects.toBeInstanceOf(OfflineError);
});

test("a lost response and a failed read are not reported as offline", async () => {
  await expect(fetchWhile(true, lose)("/x", POST)).rejects.toBeInstanceOf(TypeError);
  await expect(fetchWhile(false, lose)("/x")).rejects.toBeInstanceOf(TypeError);
});

test("a gateway on the same machine responds without a network", async () => {
  const response = new Response("{}");
  expect(await fetchWhile(false, () => Promise.resolve(response))("/x", POST)).toBe(response);
});
