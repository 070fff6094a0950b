import { expect, test } from "vitest";
import { parseAmqpAddress } from "./amqp-address.ts";
import { RABBITMQ } from "./rabbitmq.ts";

test("an address of RabbitMQ has user, password, host, port, virtual host, exchange and first words", () => {
  const url = "amqps://shop:secret@mq.example.com:5680/north%2Fshop?exchange=events&routing_key=acme.shop";
  expect(parseAmqpAddress(url)).toMatchObject({
    isSecure: true,
    policyUrl: "https://mq.example.com:5680/",
    port: 5680,
    serverName: "mq.example.com",
    credentials: { user: "shop", password: "secret" },
    virtualHost: "north/shop",
    exchange: "events",
    prefix: "acme.shop",
  });
});

test("an address of RabbitMQ without port and virtual host has the usual ones", () => {
  const plain = parseAmqpAddress("amqp://mq.example.com?exchange=amq.topic");
  expect(plain).toMatchObject({ port: 5672, virtualHost: "/", exchange: "amq.topic", prefix: undefined });
  expect(parseAmqpAddress("amqps://mq.example.com/?exchange=e").port).toBe(5671);
});

test.each([
  ["no exchange", "amqp://h/", /has no exchange/],
  ["an empty exchange", "amqp://h/?exchange=", /has no exchange/],
  ["a blank in its exchange", "amqp://h/?exchange=a%20b", /an exchange that is not/],
  ["an exchange of 128 characters", `amqp://h/?exchange=${"a".repeat(128)}`, /an exchange that is not/],
  ["two exchanges", "amqp://h/?exchange=a&exchange=b", /has exchange twice/],
  ["an unknown parameter", "amqp://h/?exchange=a&heartbeat=1", /it can have exchange and routing_key/],
  ["the name of a property of objects", "amqp://h/?exchange=a&__proto__=1", /unknown query parameter/],
  [
    "a wildcard in its routing key",
    "amqp://h/?exchange=a&routing_key=a.%23",
    /a routing_key that is not words/,
  ],
  ["two path segments", "amqp://h/a/b?exchange=a", /write \/ as %2F/],
  [
    "a virtual host of 128 bytes",
    `amqp://h/${"a".repeat(128)}?exchange=a`,
    /a virtual host of more than 127 bytes/,
  ],
  ["a user without a password", "amqp://shop@h/?exchange=a", /a user without a password/],
])("an address of RabbitMQ is refused with %s", (_, url, issue) => {
  expect(() => parseAmqpAddress(url)).toThrow(issue);
});

test("a webhook to RabbitMQ may have any header but those that RabbitMQ itself reads", () => {
  expect(RABBITMQ.findHeaderIssue("X-Shop")).toBeUndefined();
  for (const name of ["CC", "bcc"])
    expect(RABBITMQ.findHeaderIssue(name)).toMatch(/^is a header that RabbitMQ itself reads/);
});
