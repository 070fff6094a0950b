import {
  type BrokerAddress,
  decodePart,
  InvalidAddressError,
  parseBrokerAddress,
  readTopicPrefix,
} from "../../core/webhooks/webhooks.ts";

export interface AmqpAddress extends BrokerAddress {
  virtualHost: string;
  exchange: string;
  /** The first words of each routing key; undefined: it begins with the instance. */
  prefix: string | undefined;
}

export const AMQP_RULES = {
  ports: { "amqp:": { port: 5672, isSecure: false }, "amqps:": { port: 5671, isSecure: true } },
  parameters: ["exchange", "routing_key"],
};
const LONGEST_NAME = 127;

export function parseAmqpAddress(url: string): AmqpAddress {
  const address = parseBrokerAddress(url, AMQP_RULES);
  const { path, query } = address;
  if (path.includes("/"))
    throw new InvalidAddressError(
      "has more than one part in its path; in the name of a virtual host, write / as %2F",
    );
  if (!query.exchange) throw new InvalidAddressError("has no exchange; end it with ?exchange=name");
  const { exchange, routing_key } = query;
  if (!/^[\w.:-]+$/.test(exchange) || exchange.length > LONGEST_NAME)
    throw new InvalidAddressError(
      `has an exchange that is not 1 to ${LONGEST_NAME} letters, digits, or the characters _ . : -`,
    );
  return {
    ...address,
    virtualHost: decodePart("virtual host", path, LONGEST_NAME) || "/",
    exchange,
    prefix:
      routing_key === undefined ? undefined : readTopicPrefix("routing_key", encodeURIComponent(routing_key)),
  };
}
