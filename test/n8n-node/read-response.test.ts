import { describe, expect, test } from "vitest";
import {
  GatewayRefusal,
  readResponse,
} from "../../packages/n8n-nodes-waygate/nodes/Waygate/read-response.ts";

const json = (body: unknown, statusCode = 200, headers: Record<string, unknown> = {}) => ({
  statusCode,
  headers: { "content-type": "application/json; charset=utf-8", ...headers },
  body: Buffer.from(JSON.stringify(body)),
});

function refusalOf(response: Parameters<typeof readResponse>[0]): GatewayRefusal {
  try {
    readResponse(response);
  } catch (error) {
    return error as GatewayRefusal;
  }
  throw new Error("The response was accepted.");
}

describe("a response in the n8n node", () => {
  test("has its data, and the cursor of the next page while there is one", () => {
    const page = (pagination: unknown) => readResponse(json({ success: true, data: [1], pagination }));
    expect(page({ has_more: true, next_cursor: "c" })).toEqual({ kind: "json", data: [1], nextCursor: "c" });
    expect(page({ has_more: false, next_cursor: "c" })).toMatchObject({ nextCursor: undefined });
    expect(page(undefined)).toMatchObject({ nextCursor: undefined });
  });

  test.each([
    ['attachment; filename="a \\"b\\".pdf"', 'a "b".pdf'],
    ["attachment; filename=\"x.pdf\"; filename*=UTF-8''pre%C3%A7o.pdf", "preço.pdf"],
    ["attachment; filename*=UTF-8''%E0%A4%A; filename=x.pdf", "x.pdf"],
    ["inline", undefined],
    [`attachment; filename="${'\\"'.repeat(100_000)}`, undefined],
  ])("is a file with its name: %s", (disposition, fileName) => {
    const headers = { "content-type": "application/pdf", "content-disposition": disposition };
    const body = Buffer.from("%PDF");
    expect(readResponse({ statusCode: 200, headers, body })).toEqual({
      kind: "file",
      bytes: body,
      mimeType: "application/pdf",
      fileName,
    });
  });

  test("is a file, too, when the file itself is JSON", () => {
    const file = json({ success: true, data: 1 }, 200, {
      "content-disposition": 'attachment; filename="a.json"',
    });
    expect(readResponse(file)).toMatchObject({ kind: "file", fileName: "a.json" });
  });

  test("is an error with the sentence of the gateway, and its code below", () => {
    const body = {
      success: false,
      code: "RATE_LIMITED",
      message: "Too many requests.",
      details: { retryable: true },
      request_id: "req_1",
    };
    const error = refusalOf(json(body, 429, { "retry-after": "7" }));
    expect(error).toBeInstanceOf(GatewayRefusal);
    expect([error.message, error.statusCode, error.description]).toEqual([
      "Too many requests.",
      429,
      'RATE_LIMITED · Try again after 7 s. · {"retryable":true} · req_1',
    ]);
  });

  test.each([
    ["a page of a proxy", 502, "text/html", "<h1>Bad gateway</h1>"],
    ["a page instead of the API", 200, "text/html", "<h1>Welcome</h1>"],
    ["JSON of another program", 200, "application/json", '{"ok":true}'],
    ["cut JSON", 200, "application/json", '{"success":tr'],
    ["a list", 404, "application/json", "[]"],
    ["nothing", 204, "", ""],
  ])("is not from a gateway: %s", (_, statusCode, type, body) => {
    const error = refusalOf({ statusCode, headers: { "content-type": type }, body: Buffer.from(body) });
    expect([error.message, error.description]).toEqual([
      `The response has the status ${statusCode}.`,
      "Check the base URL of the credential: the response is not from a Waygate gateway.",
    ]);
  });
});
