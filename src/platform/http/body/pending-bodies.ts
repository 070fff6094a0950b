import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { GatewayError } from "../../gateway-error.ts";
import { overloadedError } from "../load-shedder.ts";

/** Per account, or for all unauthenticated clients together, whose bodies have at most 64 KiB each. */
const MOST_AT_ONCE = 500;
const STRANGERS = "strangers";

type Message = FastifyRequest["raw"];

export interface PendingBodies {
  /** Requests whose body has not arrived completely. */
  count(): number;
}

/**
 * Limits the bodies arriving at the same time, per account and for all unauthenticated clients together, so
 * that slow bodies cannot block the gateway for other callers. Above the limit an account is rejected.
 * Unauthenticated clients are indistinguishable, so the slowest one is disconnected.
 */
export function limitPendingBodies(app: FastifyInstance, most = MOST_AT_ONCE): PendingBodies {
  const bySender = new Map<unknown, Set<Message>>();
  let count = 0;

  function add({ raw }: FastifyRequest, { raw: reply }: FastifyReply, sender: unknown): Set<Message> {
    const pending = bySender.get(sender) ?? new Set<Message>();
    bySender.set(sender, pending.add(raw));
    count += 1;
    const leave = () => {
      if (!pending.delete(raw)) return;
      count -= 1;
      if (pending.size === 0) bySender.delete(sender);
    };
    raw.once("end", leave).once("close", leave);
    // After the response the body no longer counts, even if it never arrives.
    reply.once("close", leave);
    return pending;
  }

  app.addHook("preParsing", (request, reply, _payload, done) => {
    const { raw, routeOptions } = request;
    // A client that disconnected during the check of its credential emits no second `close`, so it must not
    // be counted.
    if (reply.raw.closed || (raw.destroyed && !raw.complete)) return done(cutOff());
    // Other nodes have counted the bodies that they forward.
    if (raw.complete || routeOptions.config.isExpected) return done();
    const sender = senderOf(request);
    if (sender !== STRANGERS && (bySender.get(sender)?.size ?? 0) >= most) return done(tooMany());
    const pending = add(request, reply, sender);
    const [slowest] = pending;
    if (pending.size > most) slowest?.destroy();
    done();
  });
  return { count: () => count };
}

/** While the database is unavailable every caller is unknown. */
function senderOf({ caller }: FastifyRequest): unknown {
  if (caller === undefined || caller.kind === "public") return STRANGERS;
  return "account_id" in caller ? caller.account_id : caller.kind;
}

function tooMany() {
  return overloadedError("Too many bodies of this account are on their way. Send fewer requests at once.");
}

/** The client is gone, so nothing reads this error. */
function cutOff() {
  return new GatewayError("VALIDATION_ERROR", "The connection was closed before the body had arrived.");
}
