import { createSafeFetch } from "../../platform/outgoing/safe-fetch.ts";
import { toTerminalText } from "../to-terminal-text.ts";
import type { ListenerResponse, VerifiedWebhook } from "./webhook-listener.ts";

/** The response of the local program, and a line about it. */
export interface ForwardedWebhook {
  response: ListenerResponse;
  note: string;
}

export interface WebhookForwarder {
  forward(webhook: Pick<VerifiedWebhook, "headers" | "body">): Promise<ForwardedWebhook>;
  close(): Promise<void>;
}

/** Less than the gateway waits by default, so that it gets a response. */
const WITHIN_MS = 14_000;
/** As much as the gateway reads of a response. */
const MAX_RESPONSE_BYTES = 64 * 1024;
const SHOWN_CHARACTERS = 300;
/** Headers of one connection, or set anew for the next one. */
const OF_CONNECTION =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|content-length|proxy-.*)$/;
/** What the gateway reads of a response. */
const RETURNED = ["content-type", "retry-after"];

/** Passes webhooks on to a local program, byte for byte, and returns its response. */
export function createWebhookForwarder(url: string): WebhookForwarder {
  // The user of the command has chosen the address.
  const outgoing = createSafeFetch({ allowedHosts: ["external", "private", "loopback"] });
  return {
    close: () => outgoing.close(),
    async forward({ headers, body }) {
      const outcome = await outgoing.fetch({
        url,
        method: "POST",
        headers: passedOn(headers),
        body,
        totalMs: WITHIN_MS,
        maxBytes: MAX_RESPONSE_BYTES,
        isPaced: true,
      });
      if (outcome.outcome === "failed") {
        const text = `${url} did not respond. ${outcome.error} Is the program running?`;
        return {
          response: { status: 502, body: Buffer.from(`${text}\n`) },
          note: `-> ${toTerminalText(text)}`,
        };
      }
      const { status, durationMs } = outcome;
      const isGood = status >= 200 && status < 300;
      const said = isGood ? "" : ` ${toTerminalText(outcome.body.toString("utf8"), SHOWN_CHARACTERS)}`;
      const note = `-> ${toTerminalText(url)} responded with ${status} in ${durationMs} ms${said.trimEnd()}`;
      return { response: { status, headers: returned(outcome.headers), body: outcome.body }, note };
    },
  };
}

function passedOn(headers: VerifiedWebhook["headers"]): Record<string, string> {
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || OF_CONNECTION.test(name) ? [] : [[name, [value].flat().join(", ")]],
  );
  return Object.fromEntries(pairs);
}

function returned(headers: Readonly<Record<string, string>>): Record<string, string> {
  const pairs = RETURNED.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]));
  return Object.fromEntries(pairs);
}
