import type { Broker } from "../../core/webhooks/webhooks.ts";
import { AMQP_RULES, type AmqpAddress, parseAmqpAddress } from "./amqp-address.ts";

/** AMQP 0-9-1: `amqp://user:password@host:5672/vhost?exchange=name&routing_key=first.words`, with TLS `amqps://`. */
export const RABBITMQ: Broker<AmqpAddress> = {
  name: "RabbitMQ",
  system: "rabbitmq",
  protocols: Object.keys(AMQP_RULES.ports),
  parse: parseAmqpAddress,
  prefixOf: ({ prefix }) => prefix,
  findHeaderIssue: (name) =>
    /^b?cc$/i.test(name) ? "is a header that RabbitMQ itself reads, and cannot be set here" : undefined,
  async connect(address, ip, signal) {
    const { openAmqpConnection } = await import("./open-amqp-connection.ts");
    return openAmqpConnection(address, ip, signal);
  },
};
