import type { Broker } from "../../core/webhooks/webhooks.ts";
import { NATS_RULES, type NatsAddress, parseNatsAddress } from "./nats-address.ts";

/** JetStream: `nats://user:password@host:4222/prefix`, with TLS `tls://`. A stream of the server must take the subjects. */
export const NATS: Broker<NatsAddress> = {
  name: "NATS",
  system: "nats",
  protocols: Object.keys(NATS_RULES.ports),
  parse: parseNatsAddress,
  prefixOf: ({ prefix }) => prefix,
  findHeaderIssue: (name) =>
    /^nats-/i.test(name) ? "is a header that NATS itself reads, and cannot be set here" : undefined,
  async connect(address, ip, signal) {
    const { openNatsConnection } = await import("./open-nats-connection.ts");
    return openNatsConnection(address, ip, signal);
  },
};
