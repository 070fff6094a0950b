import type { Extension } from "../../core/extension.ts";
import { createBrokerDestination } from "../../core/webhooks/webhooks.ts";
import { RABBITMQ } from "./rabbitmq.ts";

export const rabbitmqExtension: Extension = {
  name: "rabbitmq",
  hooks: ({ outgoing }) => ({ destination: createBrokerDestination(outgoing, RABBITMQ) }),
};
