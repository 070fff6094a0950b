import { isGenuine, type SignedRequest } from "./verify-signature.ts";

/** What the trigger does with a request. With an event the workflow starts. */
export type ReceivedEvent =
  | { status: 200; event: Record<string, unknown> }
  | { status: 200; event?: undefined; message: string }
  | { status: 400 | 401; message: string };

/** Decides what a request is: an event that starts the workflow, another one, or a forgery. */
export function receiveEvent(
  request: SignedRequest,
  secret: string,
  events: readonly string[],
  now = new Date(),
): ReceivedEvent {
  if (!isGenuine(request, secret, now)) {
    return { status: 401, message: "The signature is missing, wrong or too old." };
  }
  const event = parse(request.body);
  if (event === undefined) return { status: 400, message: "The body is not a JSON object." };
  // A test event of the gateway proves that the address is right, and is not what the workflow waits for.
  const isWanted = events.length === 0 || events.includes(String(event.event));
  return isWanted ? { status: 200, event } : { status: 200, message: "The workflow ignores this event." };
}

function parse(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
