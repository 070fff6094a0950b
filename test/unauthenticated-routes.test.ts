import { describe, expect, test } from "vitest";
import { contract } from "../src/contract.ts";
import { oauthWireContract } from "../src/features/oauth/wire-contract.ts";
import type { Route } from "../src/platform/http/route.ts";

const routes: readonly [string, Route][] = Object.entries({ ...contract, ...oauthWireContract });

describe("routes without a credential", () => {
  test("are exempt from rate limits only if they report the health", () => {
    const named = routes.filter(([, route]) => route.isExemptFromLimits).map(([name]) => name);
    expect(named).toEqual(["health", "healthReady", "healthLive"]);
  });

  test("are rate-limited, except those that report the health", () => {
    const free = routes.filter(([, { cost = 1, isExemptFromLimits }]) => cost < 1 && !isExemptFromLimits);
    expect(free.map(([name]) => name)).toEqual([]);
  });

  test("accept a large body only behind a token in their path, and no other route reads its bytes", () => {
    const large = routes.filter(
      ([, { access, bodyLimitBytes = 0 }]) => access === "public" && bodyLimitBytes > 65_536,
    );
    expect(large.map(([name]) => name)).toEqual(["receiveChatwoot"]);
    for (const [, route] of large) expect(route.pathToken).toBe(true);
    for (const [, route] of routes) expect(route.signed ?? false).toBe(route.pathToken ?? false);
  });
});
