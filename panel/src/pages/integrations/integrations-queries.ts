import { queryOptions } from "@tanstack/react-query";
import { gateway } from "../../gateway/gateway.ts";

export type Integration = Awaited<ReturnType<typeof gateway.listIntegrations>>["data"][number];
export type Provider = Integration["provider"];
export type TestReport = Awaited<ReturnType<typeof gateway.testIntegration>>["data"];

export const PROVIDERS: readonly Provider[] = ["n8n", "typebot", "chatwoot"];

/** Product names are not translated. */
export const PROVIDER_NAMES: Readonly<Record<Provider, string>> = {
  n8n: "n8n",
  typebot: "Typebot",
  chatwoot: "Chatwoot",
};

export const integrationsQuery = (id: number) =>
  queryOptions({
    queryKey: ["instances", id, "integrations"],
    queryFn: async ({ signal }) => (await gateway.listIntegrations({ id }, { signal })).data,
    refetchInterval: 5_000,
  });
