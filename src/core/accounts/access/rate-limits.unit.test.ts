import { beforeEach, describe, expect, test } from "vitest";
import { GatewayError } from "../../../platform/gateway-error.ts";
import type { AuthoriseRequest, Caller } from "../../../platform/http/handler.ts";
import type { Route } from "../../../platform/http/route.ts";
import { createRateLimits, type PlanRates, type RateLimits, withInstanceRate } from "./rate-limits.ts";

const NO_LIMITS: PlanRates = {
  api_rate_limit_per_minute: null,
  instance_rate_limit_per_minute: null,
  message_rate_limit_per_minute: null,
};

let now: number;
let nodes: number;
let limits: RateLimits;

beforeEach(() => {
  now = 1_000_000;
  nodes = 1;
  limits = createLimits(4);
});

function createLimits(unknownPerMinute: number): RateLimits {
  const clock = { now: () => new Date(), monotonicMs: () => now };
  return createRateLimits({ unknownPerMinute, clock, shares: () => nodes });
}

const user = (account_id: number) => ({ kind: "user", account_id }) as Caller;
const key = (account_id: number, instance_id: number) => ({ kind: "key", account_id, instance_id }) as Caller;
const routeOf = (more: Partial<Route> = {}) => more as Route;
const requestOf = (more: Partial<AuthoriseRequest> = {}): AuthoriseRequest => ({
  credential: undefined,
  ip: "192.0.2.1",
  responseHeaders: {},
  ...more,
});

interface Asked {
  rates?: Partial<PlanRates>;
  caller?: Caller;
  route?: Partial<Route>;
  request?: Partial<AuthoriseRequest>;
}

/** The error of a request, if any, and the headers of its response. */
function ask({ rates = {}, caller = user(1), route, request }: Asked) {
  const asked = requestOf(request);
  const error = errorOf(() => limits.enforce(routeOf(route), asked, caller, { ...NO_LIMITS, ...rates }));
  return { error, headers: asked.responseHeaders };
}

function errorOf(work: () => void): GatewayError | undefined {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  return undefined;
}

const grantedOf = (times: number, asked: Asked) =>
  Array.from({ length: times }, () => ask(asked)).filter(({ error }) => !error).length;

describe("the limits of a plan", () => {
  test("reject the request that exceeds one, with the limit and the wait", () => {
    const rates = { api_rate_limit_per_minute: 2 };
    expect(grantedOf(2, { rates })).toBe(2);
    const { error, headers } = ask({ rates });
    expect(error).toMatchObject({
      code: "RATE_LIMITED",
      message: "Too many requests. Wait for the seconds in Retry-After, then try again.",
      retryAfterSeconds: 30,
      details: { policy: "account", limit_per_minute: 2, retry_after: 30 },
    });
    expect(headers).toEqual({
      ratelimit: '"account";r=0;t=30',
      "ratelimit-policy": '"account";q=2;w=60',
      "x-ratelimit-limit": "2",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": "30",
    });
  });

  test("are all in the standard headers, and the one with the least quota left in the older ones", () => {
    const rates = {
      api_rate_limit_per_minute: 60,
      instance_rate_limit_per_minute: 30,
      message_rate_limit_per_minute: 6,
    };
    const { headers } = ask({ rates, caller: key(1, 7), route: { sends: true } });
    expect(headers).toEqual({
      ratelimit: '"account";r=59;t=1, "instance";r=29;t=2, "messages";r=5;t=10',
      "ratelimit-policy": '"account";q=60;w=60, "instance";q=30;w=60, "messages";q=6;w=60',
      "x-ratelimit-limit": "6",
      "x-ratelimit-remaining": "5",
      "x-ratelimit-reset": "10",
    });
  });

  test("with the same quota left report the one that takes longer to refill", () => {
    const rates = { api_rate_limit_per_minute: 10, instance_rate_limit_per_minute: 5 };
    for (let n = 0; n < 5; n++) ask({ rates: { api_rate_limit_per_minute: 10 } });
    now += 0;
    const { headers } = ask({ rates, caller: key(1, 7) });
    expect(headers["x-ratelimit-remaining"]).toBe("4");
    expect(headers["x-ratelimit-reset"]).toBe("36");
  });

  test("name the exceeded limit that takes the longest to refill", () => {
    const rates = { api_rate_limit_per_minute: 3, instance_rate_limit_per_minute: 2 };
    const asked = { rates, caller: key(1, 7), route: { cost: 2 } };
    ask({ ...asked, route: {} });
    ask(asked);
    ask({ rates: { api_rate_limit_per_minute: 3 } });
    const { error } = ask(asked);
    expect(error?.details).toMatchObject({ policy: "instance", limit_per_minute: 2 });
  });

  test("add no header if there is none", () => {
    expect(ask({ route: { sends: true }, caller: key(1, 7) })).toEqual({ error: undefined, headers: {} });
  });

  test("of an account count its users and keys together, and no other account", () => {
    const rates = { api_rate_limit_per_minute: 2 };
    ask({ rates });
    ask({ rates, caller: key(1, 7) });
    expect(ask({ rates }).error).toBeDefined();
    expect(ask({ rates, caller: user(2) }).error).toBeUndefined();
  });

  test("of an instance count its key, and users on its routes", () => {
    const rates = { instance_rate_limit_per_minute: 2 };
    ask({ rates, caller: key(1, 7) });
    ask({ rates, request: { instanceId: 7 } });
    expect(ask({ rates, caller: key(1, 7), request: { instanceId: 8 } }).error?.details).toMatchObject({
      policy: "instance",
    });
    expect(ask({ rates, request: { instanceId: 8 } }).error).toBeUndefined();
    expect(ask({ rates }).headers).toEqual({});
  });

  test("of messages count only routes that send, per instance, at one whatever the route costs", () => {
    const rates = { message_rate_limit_per_minute: 2 };
    const sends = { route: { sends: true, cost: 5 }, rates };
    expect(grantedOf(5, { rates, caller: key(1, 7) })).toBe(5);
    expect(grantedOf(5, { ...sends, caller: key(1, 7) })).toBe(2);
    expect(grantedOf(5, { ...sends, caller: key(1, 8) })).toBe(2);
    expect(ask({ ...sends, request: { instanceId: 7 } }).error).toBeDefined();
    expect(grantedOf(5, sends)).toBe(2);
    expect(grantedOf(5, { ...sends, caller: user(2) })).toBe(2);
  });

  test("charge the cost of the route, which is one by default", () => {
    const rates = { api_rate_limit_per_minute: 10 };
    expect(ask({ rates, route: { cost: 5 } }).headers["x-ratelimit-remaining"]).toBe("5");
    expect(ask({ rates }).headers["x-ratelimit-remaining"]).toBe("4");
  });

  test("are divided by the number of processes", () => {
    nodes = 2;
    expect(grantedOf(10, { rates: { api_rate_limit_per_minute: 6 } })).toBe(3);
  });

  test("do not charge a second check of the same request", () => {
    const rates = { api_rate_limit_per_minute: 1 };
    ask({ rates });
    expect(ask({ rates, request: { isRecheck: true } })).toEqual({ error: undefined, headers: {} });
  });

  test("apply to users and keys only", () => {
    const rates = { api_rate_limit_per_minute: 0, instance_rate_limit_per_minute: 0 };
    for (const kind of ["public", "admin"]) {
      const asked = {
        rates,
        caller: { kind, account_id: 1 } as unknown as Caller,
        request: { instanceId: 7 },
      };
      expect(ask(asked)).toEqual({ error: undefined, headers: {} });
    }
  });
});

describe("an address without a valid credential", () => {
  const charge = (ip: string, route: Partial<Route> = {}, more: Partial<AuthoriseRequest> = {}) =>
    errorOf(() => limits.enforceUnauthenticated(routeOf(route), requestOf({ ip, ...more })));
  const check = (ip: string) => errorOf(() => limits.requireUnauthenticatedQuota(requestOf({ ip })));

  test("is rejected above its limit, and no other address is", () => {
    const errors = Array.from({ length: 5 }, () => charge("192.0.2.1"));
    expect(errors.map((error) => error?.code)).toEqual([...Array(4).fill(undefined), "RATE_LIMITED"]);
    expect(errors[4]?.details).toMatchObject({ policy: "address", limit_per_minute: 4, retry_after: 15 });
    expect(charge("192.0.2.2")).toBeUndefined();
  });

  test("shares the limit with the other addresses of its IPv6 network", () => {
    for (let n = 0; n < 4; n++) charge(`2001:db8::${n}`);
    expect(charge("2001:db8::ffff")).toBeDefined();
    expect(charge("2001:db8:0:1::1")).toBeUndefined();
  });

  test("shares the limit of ten addresses with the other networks of its IPv6 /48", () => {
    for (let network = 0; network < 10; network++)
      expect(charge(`2001:db8:7:${network}::1`, { cost: 4 })).toBeUndefined();
    expect(charge("2001:db8:7:99::1")).toBeDefined();
    expect(charge("2001:db8:8::1")).toBeUndefined();
  });

  test("is told the limit only when it is exceeded", () => {
    const quiet = requestOf();
    limits.enforceUnauthenticated(routeOf(), quiet);
    expect(quiet.responseHeaders).toEqual({});
    const exceeding = requestOf();
    errorOf(() => limits.enforceUnauthenticated(routeOf({ cost: 9 }), exceeding));
    expect(exceeding.responseHeaders.ratelimit).toMatch(/^"address";r=3;/);
  });

  test("is charged the cost of the route", () => {
    expect(charge("192.0.2.1", { cost: 4 })).toBeUndefined();
    expect(charge("192.0.2.1")).toBeDefined();
  });

  test("is not limited on exempt routes, nor charged for a second check of a request", () => {
    for (let n = 0; n < 9; n++) {
      expect(charge("192.0.2.1", { isExemptFromLimits: true })).toBeUndefined();
      expect(charge("192.0.2.1", {}, { isRecheck: true })).toBeUndefined();
    }
    expect(charge("192.0.2.1", { cost: 4 })).toBeUndefined();
  });

  test("can be checked without a charge", () => {
    for (let n = 0; n < 9; n++) expect(check("192.0.2.1")).toBeUndefined();
    for (let n = 0; n < 4; n++) expect(charge("192.0.2.1")).toBeUndefined();
    expect(check("192.0.2.1")).toMatchObject({ code: "RATE_LIMITED", retryAfterSeconds: 15 });
    expect(check("192.0.2.2")).toBeUndefined();
  });

  test("does not use up the limits of customers", () => {
    for (let n = 0; n < 9; n++) charge("192.0.2.1");
    expect(ask({ rates: { api_rate_limit_per_minute: 1 } }).error).toBeUndefined();
  });

  test("is not limited if the limit is 0", () => {
    limits = createLimits(0);
    for (let n = 0; n < 9; n++) expect(charge("192.0.2.1") ?? check("192.0.2.1")).toBeUndefined();
  });

  test("shares the limit of one node among several", () => {
    nodes = 2;
    expect(Array.from({ length: 4 }, () => charge("192.0.2.1")?.code)).toEqual([
      undefined,
      undefined,
      "RATE_LIMITED",
      "RATE_LIMITED",
    ]);
  });
});

describe("the message limit of an instance", () => {
  const rates: PlanRates = { ...NO_LIMITS, api_rate_limit_per_minute: 9, message_rate_limit_per_minute: 5 };

  test("replaces the one of the plan if it is lower", () => {
    expect(withInstanceRate(rates, 4)).toEqual({ ...rates, message_rate_limit_per_minute: 4 });
    expect(withInstanceRate(NO_LIMITS, 4)).toEqual({ ...NO_LIMITS, message_rate_limit_per_minute: 4 });
  });

  test.each([null, 5, 6])("changes nothing if it is %j", (own) => {
    expect(withInstanceRate(rates, own)).toBe(rates);
  });
});
