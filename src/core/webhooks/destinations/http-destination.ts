import { valueIssue } from "../../../platform/issue-codes.ts";
import type { SafeFetch } from "../../../platform/outgoing/safe-fetch.ts";
import type { Destination } from "./destination.ts";

const READ_AT_MOST_BYTES = 64 * 1024;

/** A POST of each event. Its connections are those of all outgoing requests. */
export function createHttpDestination(outgoing: SafeFetch): Destination {
  return {
    protocols: ["https:", "http:"],
    spanAttributes: { "http.request.method": "POST" },
    async findIssue(url, owner) {
      const reason = await outgoing.findBlockReason(url, owner);
      return reason === undefined ? undefined : valueIssue(reason, "blocked_address");
    },
    send: ({ url, headers, body, totalMs, owner, instance_id }) =>
      outgoing.fetch({
        url,
        method: "POST",
        headers: { ...headers },
        body,
        totalMs,
        maxBytes: READ_AT_MOST_BYTES,
        policyKey: owner,
        tenant: { instance_id },
        // The lane limits its own requests, but many webhooks of many customers may use one host.
        isPaced: true,
      }),
    close: async () => {},
  };
}
