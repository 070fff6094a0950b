import { z } from "zod";
import { instanceId } from "../../core/events/contract.ts";
import { isoTime, route } from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { boundedText } from "../../platform/text/bounded-text.ts";

const PASSKEY_STATES = ["none", "required", "awaiting_phone", "confirmation_required", "finishing"] as const;

const challenge = z
  .record(z.string(), z.unknown())
  .nullable()
  .describe("WebAuthn `PublicKeyCredentialRequestOptionsJSON`, to be signed on https://web.whatsapp.com.");

const passkey = named(
  "Passkey",
  z.object({
    state: z
      .enum(PASSKEY_STATES)
      .describe(
        "`required`: sign the challenge. `awaiting_phone`: wait for the phone. `confirmation_required`: compare the code. `finishing`: the phone links.",
      ),
    challenge,
    code: z.string().nullable().describe("Also shown on the phone, where it must be the same."),
    expires_at: isoTime.nullable().describe("When this state and the pairing expire."),
  }),
);

const binary = boundedText(8_192)
  .min(1)
  .regex(/^[A-Za-z0-9_-]+$/, "must be base64url without padding");

/** WebAuthn's `credential.toJSON()` without `id`, which equals `rawId`; all other fields are dropped. */
const assertion = {
  rawId: binary,
  type: z.literal("public-key"),
  response: named(
    "AssertionResponse",
    z.object({
      clientDataJSON: binary,
      authenticatorData: binary,
      signature: binary,
      userHandle: binary.nullish().transform((value) => value ?? null),
    }),
  ),
};

/** Errors of the steps of a passkey. */
const PASSKEY_ERRORS = [
  "INSTANCE_NOT_CONNECTED",
  "CONFLICT",
  "NOT_SUPPORTED",
  "SEND_FAILED",
  "SEND_TIMEOUT",
] as const;

const tag = "Instances";

const linkToken = z.object({
  token: boundedText(200).describe("Of the address of the page."),
});

const link = {
  access: "public",
  tag: "Link page",
} as const;

const linkState = named(
  "LinkState",
  z.object({
    name: z.string(),
    status: z.string(),
    is_linked: z.boolean().describe("The instance is linked, and the link is no longer valid."),
    version: z.string().describe("Changes with each other field. Send it as `since` to wait for a change."),
    link_expires_at: isoTime,
    qr: z.string().nullable(),
    attempt: z.number().int().nullable(),
    max_attempts: z.number().int().nullable(),
    is_refreshed: z.boolean().describe("Whether the phone must scan again."),
    pairing_code: z.string().nullable(),
    expires_at: isoTime.nullable(),
    passkey,
    error: z
      .object({ message: z.string(), action: z.string() })
      .nullable()
      .describe("Why the last attempt failed."),
  }),
);

const session = boundedText(200).describe(
  "With an API key: `default`, or the id or name of its instance. With a sign-in: the id or name of an instance.",
);

const WAHA = { access: "key", keepsToInstances: true, tag: "Routes of other gateways" } as const;

export const linkingContract = {
  getPasskey: route({
    http: "GET /api/v1/instances/:id/passkey",
    access: "instance",
    tag,
    summary: "Get the state of the passkey confirmation that WhatsApp requires, with its challenge and code",
    message: "Passkey",
    input: z.object({ id: instanceId }),
    output: passkey,
  }),
  submitPasskeyAssertion: route({
    http: "POST /api/v1/instances/:id/passkey/assertion",
    errors: PASSKEY_ERRORS,
    access: "instance",
    tag,
    summary: "Send the signed challenge, as `credential.toJSON()` returns it on web.whatsapp.com",
    message: "Assertion accepted",
    bodyLimitBytes: 65_536,
    description: "You can also send the fields inside `assertion`. Its `id` equals `rawId` and is ignored.",
    aliases: {
      rawId: ["assertion.rawId"],
      type: ["assertion.type"],
      response: ["assertion.response"],
    },
    input: z.object({ id: instanceId, ...assertion }),
    output: passkey,
  }),
  confirmPasskey: route({
    http: "POST /api/v1/instances/:id/passkey/confirm",
    errors: PASSKEY_ERRORS,
    access: "instance",
    tag,
    summary: "Confirm that the phone shows the same code",
    message: "Code confirmed",
    input: z.object({ id: instanceId }),
    output: passkey,
  }),
  cancelPasskey: route({
    http: "POST /api/v1/instances/:id/passkey/cancel",
    errors: PASSKEY_ERRORS,
    access: "instance",
    tag,
    summary: "Cancel the pairing that waits for a passkey",
    message: "Pairing cancelled",
    input: z.object({ id: instanceId }),
    output: passkey,
  }),
  createLink: route({
    http: "POST /api/v1/instances/:id/link",
    errors: ["CONFLICT"],
    access: "instance",
    tag,
    summary: "Create a page on which a person without an account links a phone; valid once, for 10 minutes",
    description:
      "Only this response shows the address, which replaces an earlier one. It works only in the browser that opens it first. It can only link this instance, and ends when the instance is linked.",
    message: "Link created",
    input: z.object({ id: instanceId }),
    output: z.object({ id: z.number().int(), url: z.string(), expires_at: isoTime }),
  }),

  openLink: route({
    ...link,
    http: "POST /link/:token/open",
    errors: ["CONFLICT", "FORBIDDEN"],
    summary: "Bind the link to this browser; returns the secret for all further requests",
    message: "Link opened",
    input: linkToken.extend({
      browser: boundedText(200).optional().describe("The secret that an earlier request returned."),
    }),
    output: z.object({ browser: z.string() }),
  }),
  readLink: route({
    ...link,
    http: "POST /link/:token/state",
    errors: ["CONFLICT"],
    summary: "Get the contents of the page; waits up to 20 seconds for a change after `since`",
    message: "Link",
    input: linkToken.extend({ browser: boundedText(200), since: boundedText(100).optional() }),
    output: linkState,
  }),
  connectLink: route({
    ...link,
    http: "POST /link/:token/connect",
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED", "CONNECT_FAILED"],
    summary: "Start to link by QR code, or with `phone` by pairing code",
    message: "Connection started",
    input: linkToken.extend({
      browser: boundedText(200),
      phone: boundedText(120).optional(),
    }),
    output: z.object({ status: z.string() }),
  }),
  submitLinkAssertion: route({
    ...link,
    http: "POST /link/:token/passkey/assertion",
    errors: PASSKEY_ERRORS,
    summary: "Send the signed challenge",
    message: "Assertion accepted",
    input: linkToken.extend({
      browser: boundedText(200),
      assertion: named("Assertion", z.object(assertion)),
    }),
    output: passkey,
  }),
  confirmLinkPasskey: route({
    ...link,
    http: "POST /link/:token/passkey/confirm",
    errors: PASSKEY_ERRORS,
    summary: "Confirm that the phone shows the same code",
    message: "Code confirmed",
    input: linkToken.extend({ browser: boundedText(200) }),
    output: passkey,
  }),
  cancelLinkPasskey: route({
    ...link,
    http: "POST /link/:token/passkey/cancel",
    errors: PASSKEY_ERRORS,
    summary: "Cancel the pairing that waits for a passkey",
    message: "Pairing cancelled",
    input: linkToken.extend({ browser: boundedText(200) }),
    output: passkey,
  }),

  wahaPasskeyChallenge: route({
    ...WAHA,
    http: "GET /api/:session/auth/passkey/challenge",
    errors: ["CONFLICT"],
    errorStatuses: { CONFLICT: 422 },
    summary: "Get the challenge in WAHA's format; 422 if there is none",
    input: z.object({ session }),
    output: z.record(z.string(), z.unknown()),
    bare: true,
  }),
  wahaPasskey: route({
    ...WAHA,
    http: "POST /api/:session/auth/passkey",
    errors: PASSKEY_ERRORS,
    summary: "Send the signed challenge in WAHA's format",
    bodyLimitBytes: 65_536,
    input: z.object({ session, ...assertion }),
    output: z.object({ success: z.boolean() }),
    bare: true,
  }),
  wahaPasskeyConfirmation: route({
    ...WAHA,
    http: "GET /api/:session/auth/passkey/confirmation",
    errors: ["CONFLICT"],
    errorStatuses: { CONFLICT: 422 },
    summary: "Get the code in WAHA's format; 422 if there is none",
    input: z.object({ session }),
    output: z.object({ code: z.string() }),
    bare: true,
  }),
  wahaPasskeyConfirm: route({
    ...WAHA,
    http: "POST /api/:session/auth/passkey/confirm",
    errors: PASSKEY_ERRORS,
    summary: "Confirm the code in WAHA's format",
    input: z.object({ session }),
    output: z.object({ success: z.boolean() }),
    bare: true,
  }),
};
