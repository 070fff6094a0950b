import { z } from "zod";
import { route } from "../../platform/http/route.ts";
import { boundedText } from "../../platform/text/bounded-text.ts";

export const assistantToolsContract = {
  mcp: route({
    http: "POST /mcp",
    access: "key",
    keepsToInstances: true,
    assistants: "directly",
    tag: "Assistant tools",
    summary: "Send a message of the Model Context Protocol: what an AI assistant calls",
    description:
      "Streamable HTTP without sessions. It speaks the revision 2026-07-28 of the protocol and those since 2024-11-05. " +
      "The response is JSON, or `text/event-stream` with progress before the result. A notification gets 202 without a body. " +
      "A message that breaks the protocol gets an error of JSON-RPC with 400, or 404 for its method. Each call of a tool " +
      "also counts as a request to the route that it uses. See the page on assistant tools in the guide.",
    example: { jsonrpc: "2.0", id: 1, method: "tools/list" },
    input: z.object({
      jsonrpc: z.literal("2.0").describe("Version of JSON-RPC. Batches are not accepted."),
      method: boundedText(200).describe("Such as `tools/call`."),
      id: z
        .union([boundedText(200), z.number().int()])
        .optional()
        .describe("Returned with the response; absent in a notification."),
      params: z.record(boundedText(200), z.unknown()).optional().describe("Defined by the method."),
    }),
    output: z.looseObject({
      jsonrpc: z.literal("2.0"),
      id: z.union([z.string(), z.number(), z.null()]).describe("That of the message."),
      result: z.record(z.string(), z.unknown()).optional().describe("Defined by the method."),
      error: z
        .looseObject({ code: z.number().int(), message: z.string() })
        .optional()
        .describe("A fault in the message. A tool that fails returns a result with `isError`."),
    }),
    bare: true,
    raw: "text/event-stream",
    statuses: [202, 404],
  }),
};
