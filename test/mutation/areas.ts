import { existsSync } from "node:fs";

/** Code that decides. The tests beside it must notice each change of it. */
export interface MutationArea {
  mutate: readonly string[];
  /** The tests need a PostgreSQL. */
  hasDatabase?: boolean;
}

/** The only list of the paths of mutation testing. */
export const AREAS: Readonly<Record<string, MutationArea>> = {
  signing: {
    mutate: ["src/features/webhooks/webhook-signature.ts", "packages/webhooks/src/verify-webhook.ts"],
  },
  retries: {
    mutate: [
      "src/features/webhooks/decide-attempt.ts",
      "src/features/webhooks/retry-schedule.ts",
      "src/features/webhooks/circuit-breaker.ts",
      "src/features/messages/send/run/send-retries.ts",
      "src/network/session-start-retry.ts",
    ],
  },
  lanes: {
    mutate: ["src/engine/owned-lane.ts"],
  },
  epochs: {
    mutate: ["src/engine/claim-lanes.ts", "src/engine/lane-store.ts", "src/engine/owned-lanes.ts"],
    hasDatabase: true,
  },
  idempotency: {
    mutate: [
      "src/features/messages/send/prepare/idempotency-key.ts",
      "src/platform/http/run-idempotently.ts",
    ],
    hasDatabase: true,
  },
  fingerprints: {
    mutate: ["src/platform/secrets/fingerprint.ts"],
  },
  outgoing: {
    mutate: [
      "src/platform/outgoing/address-policy.ts",
      "src/platform/outgoing/ip-address.ts",
      "src/platform/outgoing/outgoing-target.ts",
      "src/platform/outgoing/follow-redirects.ts",
    ],
  },
  limits: {
    mutate: [
      "src/platform/limits/rate-limiter.ts",
      "src/platform/limits/fixed-window-limit.ts",
      "src/platform/log/rate-limited-warnings.ts",
      "src/features/accounts/rate-limits.ts",
      "src/features/linking/poll-limit.ts",
    ],
  },
  redaction: {
    mutate: [
      "src/platform/log/log.ts",
      "src/platform/outgoing/mask-url.ts",
      "src/platform/secrets/secret.ts",
    ],
  },
  anonymisation: {
    mutate: [
      "src/features/privacy/treatment.ts",
      "src/features/privacy/anonymise-table-steps.ts",
      "src/features/privacy/erased-tables.ts",
    ],
    hasDatabase: true,
  },
  campaigns: {
    mutate: [
      "src/features/campaigns/decide-campaign.ts",
      "src/features/campaigns/choose-recipients.ts",
      "src/features/campaigns/plan-sends.ts",
      "src/features/campaigns/render-template.ts",
    ],
    hasDatabase: true,
  },
};

/** The area that `mutate.ts` tests in this run. */
export const AREA_VARIABLE = "WAYGATE_MUTATION_AREA";

/** The narrowest tests of the area: beside each of its files the unit test, else the other one. */
export function testsOf({ mutate }: MutationArea): string[] {
  return mutate.flatMap((path) => {
    const tests = [".unit.test.ts", ".test.ts"].map((end) => path.replace(/\.ts$/, end));
    return tests.filter((test) => existsSync(test)).slice(0, 1);
  });
}
