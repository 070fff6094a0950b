import type { Extension } from "../../core/extension.ts";
import { createBrokerDestination } from "../../core/webhooks/webhooks.ts";
import { NATS } from "./nats.ts";

export const natsExtension: Extension = {
  name: "nats",
  hooks: ({ outgoing }) => ({ destination: createBrokerDestination(outgoing, NATS) }),
};
