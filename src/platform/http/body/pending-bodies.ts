import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { GatewayError } from "../../gateway-error.ts";
import { overloadedError } from "../load-shedder.ts";

/** Of one account, or of all strangers, whose bodies have at most 64 KiB each. */
const MOST_AT_ONCE = 500;
const STRANGERS = "strangers";

type Message = FastifyRequest["raw"];

export interface PendingBodies {
  /** Requests whose body has not arrived whole. */
  count(): number;
}

/**
 * Bounds the bodies that are on their way at the same time, for each account and for all strangers together, so that
 * bodies sent byte by byte keep nobody else from the gateway. Beyond the bound an account is refused; of the strangers,
 * who cannot be told apart, the slowest is cut off.
 */
export function limitPendingBodies(app: FastifyInstance, most = MOST_AT_ONCE): PendingBodies {
  const bySender = new Map<unknown, Set<Message>>();
  let count = 0;

  function add({ raw }: FastifyRequest, { raw: reply }: FastifyReply, sender: unknown): Set<Message> {
    const arriving = bySender.get(sender) ?? new Set<Message>();
    bySender.set(sender, arriving.add(raw));
    count += 1;
    const leave = () => {
      if (!arriving.delete(raw)) return;
      count -= 1;
      if (arriving.size === 0) bySender.delete(sender);
    };
    raw.once("end", leave).once("close", leave);
    // One that is answered is no longer waited for, even if its body never comes.
    reply.once("close", leave);
    return arriving;
  }

  app.addHook("preParsing", (request, reply, _payload, done) => {
    const { raw, routeOptions } = request;
    // Whoever hung up while the credential was looked at closes no second time, to give back what is taken here.
    if (reply.raw.closed || (raw.destroyed && !raw.complete)) return done(cutOff());
    // Other nodes have counted what they pass on.
    if (raw.complete || routeOptions.config.isExpected) return done();
    const sender = senderOf(request);
    if (sender !== STRANGERS && (bySender.get(sender)?.size ?? 0) >= most) return done(tooMany());
    const arriving = add(request, reply, sender);
    const [slowest] = arriving;
    if (arriving.size > most) slowest?.destroy();
    done();
  });
  return { count: () => count };
}

/** While the database is away nobody is known. */
function senderOf({ caller }: FastifyRequest): unknown {
  if (caller === undefined || caller.kind === "public") return STRANGERS;
  return "account_id" in caller ? caller.account_id : caller.kind;
}

function tooMany() {
  return overloadedError("Too many bodies of this account are on their way. Send fewer requests at once.");
}

/** Nobody reads it. */
function cutOff() {
  return new GatewayError("VALIDATION_ERROR", "The connection was closed before the body had arrived.");
}
