import { pino } from "pino";
import type { Authorise, Handlers } from "../src/platform/http/handler.ts";
import type { Contract } from "../src/platform/http/route.ts";
import { createHttpServer } from "../src/platform/http/server/http-server.ts";
import { createHttpRequester, type HttpRequester } from "./http-requester.ts";

export interface Served {
  request: HttpRequester;
  close(): Promise<void>;
}

/** Serves one feature over real HTTP, for a test that must choose its clock. */
export async function serveFeature<C extends Contract>(
  contract: C,
  handlers: Handlers<C>,
  authorise: Authorise,
): Promise<Served> {
  const server = await createHttpServer({
    contract,
    handlers,
    authorise,
    log: pino({ level: "silent" }),
    strictOutput: true,
    bodyLimitBytes: 1_000_000,
  });
  const { url } = await server.listen("127.0.0.1", 0);
  return { request: createHttpRequester(() => url), close: () => server.close() };
}
