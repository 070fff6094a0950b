import { ProtocolError, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import { asMeant } from "../platform/http/input/as-meant.ts";
import { createIssueDescriber } from "../platform/http/input/describe-issue.ts";
import { invalidInput } from "../platform/http/input/invalid-input.ts";
import { PROMPTS } from "./prompts.ts";

/** Answers the requests of a host about prompts. */
export function servePrompts(server: Server): void {
  server.setRequestHandler("prompts/list", () => ({
    prompts: PROMPTS.map(({ name, description, input }) => ({
      name,
      description,
      arguments: Object.entries(input.shape).map(([argument, { description: about }]) => ({
        name: argument,
        description: about,
        required: false,
      })),
    })),
  }));
  server.setRequestHandler("prompts/get", ({ params }) => {
    const prompt = PROMPTS.find(({ name }) => name === params.name);
    if (!prompt) throw invalid(`There is no prompt ${params.name.slice(0, 100)}.`);
    const sent = asMeant(prompt.input, params.arguments ?? {}, "POST");
    const parsed = prompt.input.safeParse(sent, { error: createIssueDescriber() });
    if (!parsed.success) throw invalid(invalidInput(parsed.error.issues, sent).message);
    const text = prompt.write(parsed.data);
    return {
      description: prompt.description,
      messages: [{ role: "user" as const, content: { type: "text" as const, text } }],
    };
  });
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
