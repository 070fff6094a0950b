import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

interface ChatRequest {
  messages: { role: string; content?: unknown }[];
  tools?: { function: { name: string; parameters: unknown } }[];
}

/** A language model with OpenAI's API that calls the first tool once, and then ends. */
export interface FakeChatModel {
  readonly url: string;
  /** What it was asked. */
  readonly requests: ChatRequest[];
  stop(): void;
}

export async function startFakeChatModel(toolInput: Record<string, unknown>): Promise<FakeChatModel> {
  const requests: ChatRequest[] = [];
  const server: Server = createServer(async (request, response) => {
    const asked = (await json(request)) as ChatRequest;
    requests.push(asked);
    const name = asked.tools?.[0]?.function.name;
    const isDone = asked.messages.some(({ role }) => role === "tool");
    const call = { id: "call_1", type: "function", function: { name, arguments: JSON.stringify(toolInput) } };
    const message = isDone
      ? { role: "assistant", content: "I have sent it." }
      : { role: "assistant", content: null, tool_calls: [call] };
    const choice = { index: 0, message, finish_reason: isDone ? "stop" : "tool_calls" };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const answer = {
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "fake",
      choices: [choice],
      usage,
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
