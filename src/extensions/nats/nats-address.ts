import { type BrokerAddress, parseBrokerAddress, readTopicPrefix } from "../../core/webhooks/webhooks.ts";

export interface NatsAddress extends BrokerAddress {
  /** The first words of each subject. */
  prefix: string;
}

export const NATS_RULES = {
  ports: { "nats:": { port: 4222, isSecure: false }, "tls:": { port: 4222, isSecure: true } },
  parameters: [],
};

export function parseNatsAddress(url: string): NatsAddress {
  const address = parseBrokerAddress(url, NATS_RULES);
  return { ...address, prefix: readTopicPrefix("subject", address.path || "waygate") };
}
