/** A header of a delivery, as the OpenAPI document describes it. */
export interface DeliveryHeader {
  name: string;
  description: string;
  /** Absent: every delivery has it. */
  isOptional?: true;
}

/** The headers that the gateway sets on each delivery of an event in its own format. */
export const DELIVERY_HEADERS: readonly DeliveryHeader[] = [
  {
    name: "x-waygate-signature",
    description: "`sha256=` and the hex HMAC-SHA256 of the raw body, keyed with the whole secret.",
  },
  {
    name: "x-waygate-signature-previous",
    description: "The same with the previous secret, while both are valid.",
    isOptional: true,
  },
  { name: "x-waygate-event", description: "Name of the event." },
  { name: "x-waygate-event-id", description: "Id of the event, the same at every attempt." },
  { name: "x-waygate-delivery", description: "Id of this attempt." },
  { name: "x-waygate-attempt", description: "Number of this attempt, from 1." },
  { name: "x-waygate-timestamp", description: "Time of this attempt in seconds since 1970." },
  { name: "x-waygate-instance", description: "`inst_<id>`." },
  { name: "webhook-id", description: "Standard Webhooks: the id of the event." },
  {
    name: "webhook-timestamp",
    description: "Standard Webhooks: the time of this attempt in seconds since 1970.",
  },
  {
    name: "webhook-signature",
    description:
      "Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of id, timestamp and body, keyed with the decoded secret.",
  },
  {
    name: "traceparent",
    description: "W3C Trace Context: the span of this attempt, if `WAYGATE_TRACING` is on.",
    isOptional: true,
  },
];
