import { routes } from "virtual:gateway-routes";
import { type ClientOptions, createMethods } from "../../../packages/client/src/create-methods.ts";
import type { Client } from "../../../src/client/client.ts";

const options: ClientOptions = { baseUrl: location.origin };

/** The typed client: the panel's only way to the gateway. */
export const gateway = createMethods(routes, options) as unknown as Client;

/** The token stays in memory: nothing that a script could read later is stored in the browser. */
export function setToken(token: string | undefined): void {
  options.token = token;
}

type Data<Name extends keyof Client> =
  Awaited<ReturnType<Client[Name]>> extends { data: infer Value } ? Value : never;

export type Instance = Data<"getInstance">;
export type InstanceStatus = Instance["status"];
export type InstanceState = Data<"getInstanceStatus">;
export type Pairing = NonNullable<Awaited<ReturnType<Client["getInstanceQr"]>>["data"]>;
export type CreatedInstance = Data<"createInstance">;
export type Signed = Data<"me">;
