import type { ClientRoute } from "../../packages/client/src/create-methods.ts";
import type { Contract, Route } from "../platform/http/route.ts";

/** What a client needs of a contract, without its shapes: plain data. */
export function toClientRoutes(contract: Contract): Record<string, ClientRoute> {
  return Object.fromEntries(Object.entries(contract).map(([name, route]) => [name, toClientRoute(route)]));
}

function toClientRoute({ http, access, upload, raw, output, streamed, statuses }: Route): ClientRoute {
  return {
    http,
    access,
    ...(upload === undefined ? {} : { upload }),
    ...(raw === undefined ? {} : { raw, isAlwaysRaw: output.def.type === "never" }),
    ...(streamed === undefined ? {} : { streamed }),
    ...(statuses === undefined ? {} : { statuses }),
  };
}
