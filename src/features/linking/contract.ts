import { z } from "zod";
import { isoTime, route } from "../../platform/http/route.ts";
import { boundedText } from "../../platform/text/bounded-text.ts";
import { instanceId } from "../events/contract.ts";

const PASSKEY_STATES = ["none", "required", "awaiting_phone", "confirmation_required", "finishing"] as const;

const challenge = z
  .record(z.string(), z.unknown())
  .nullable()
  .describe("`PublicKeyCredentialRequestOptionsJSON` of WebAuthn, to be signed on https://web.whatsapp.com.");

const passkey = z.object({
  state: z
    .enum(PASSKEY_STATES)
    .describe(
      "`required`: sign the challenge. `awaiting_phone`: the phone must answer. `confirmation_required`: compare the code. `finishing`: the phone links.",
    ),
  challenge,
  code: z.string().nullable().describe("Also shown on the phone, where it must be the same."),
  expires_at: isoTime.nullable().describe("When the state ends, and with it the pairing."),
});

const binary = boundedText(8_192)
  .min(1)
  .regex(/^[A-Za-z0-9_-]+$/, "must be base64url without padding");

/** `credential.toJSON()` of WebAuthn without `id`, which says the same as `rawId`; other fields stay behind. */
const assertion = {
  rawId: binary,
  type: z.literal("public-key"),
  response: z.object({
    clientDataJSON: binary,
    authenticatorData: binary,
    signature: binary,
    userHandle: binary.nullish().transform((given) => given ?? null),
  }),
};

const tag = "Instances";

const linkToken = z.object({
  token: boundedText(200).describe("Of the address of the page."),
});

const link = {
  access: "public",
  tag: "Link page",
} as const;

const linkState = z.object({
  name: z.string(),
  status: z.string(),
  is_linked: z.boolean().describe("Done: the link is good for nothing more."),
  version: z.string().describe("Changes with everything else; give it as `since` to wait for a change."),
  link_expires_at: isoTime,
  qr: z.string().nullable(),
  attempt: z.number().int().nullable(),
  max_attempts: z.number().int().nullable(),
  is_refreshed: z.boolean().describe("The phone has to scan once more."),
  pairing_code: z.string().nullable(),
  expires_at: isoTime.nullable(),
  passkey,
  error: z
    .object({ message: z.string(), action: z.string() })
    .nullable()
    .describe("Why the last try failed."),
});

const session = boundedText(200).describe(
  "With an API key `default`, or the id or name of its instance; with a sign-in the id or name.",
);

const WAHA = { access: "key", tag: "Routes of other gateways" } as const;

export const linkingContract = {
  getPasskey: route({
    http: "GET /api/v1/instances/:id/passkey",
    access: "instance",
    tag,
    summary: "Get the state of the passkey that WhatsApp wants before it links, its challenge and its code",
    message: "Passkey",
    input: z.object({ id: instanceId }),
    output: passkey,
  }),
  submitPasskeyAssertion: route({
    http: "POST /api/v1/instances/:id/passkey/assertion",
    access: "instance",
    tag,
    summary: "Send the signed challenge, as `credential.toJSON()` returns it on web.whatsapp.com",
    message: "Assertion accepted",
    bodyLimitBytes: 65_536,
    description:
      "The fields may also stand in `assertion`. Its `id` says the same as `rawId` and is not read.",
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
    access: "instance",
    tag,
    summary: "Confirm that the phone shows the same code",
    message: "Code confirmed",
    input: z.object({ id: instanceId }),
    output: passkey,
  }),
  cancelPasskey: route({
    http: "POST /api/v1/instances/:id/passkey/cancel",
    access: "instance",
    tag,
    summary: "End the pairing that waits for a passkey",
    message: "Pairing cancelled",
    input: z.object({ id: instanceId }),
    output: passkey,
  }),
  createLink: route({
    http: "POST /api/v1/instances/:id/link",
    access: "instance",
    tag,
    summary: "Create a page with which somebody without an account links a phone; good once, for 10 minutes",
    description:
      "The address is shown this once, and takes the place of an earlier one. Whoever opens it first keeps it: it works in no other browser. It can do nothing but link this instance, and ends as soon as that is done.",
    message: "Link created",
    input: z.object({ id: instanceId }),
    output: z.object({ id: z.number(), url: z.string(), expires_at: isoTime }),
  }),

  openLink: route({
    ...link,
    http: "POST /link/:token/open",
    summary: "Bind the link to this browser; answers the secret that all further requests carry",
    message: "Link opened",
    input: linkToken.extend({ browser: boundedText(200).optional().describe("The secret of before.") }),
    output: z.object({ browser: z.string() }),
  }),
  readLink: route({
    ...link,
    http: "POST /link/:token/state",
    summary: "What the page shows; waits up to 20 seconds for a change since `since`",
    message: "Link",
    input: linkToken.extend({ browser: boundedText(200), since: boundedText(100).optional() }),
    output: linkState,
  }),
  connectLink: route({
    ...link,
    http: "POST /link/:token/connect",
    summary: "Begin to link by QR, or with a phone by pairing code",
    message: "Connection started",
    input: linkToken.extend({
      browser: boundedText(200),
      phone: boundedText(120)
        .transform((given) => given.replace(/[\s().+-]/g, ""))
        .pipe(z.string().regex(/^\d{7,15}$/, "must have 7 to 15 digits"))
        .optional(),
    }),
    output: z.object({ status: z.string() }),
  }),
  submitLinkAssertion: route({
    ...link,
    http: "POST /link/:token/passkey/assertion",
    summary: "Send the signed challenge",
    message: "Assertion accepted",
    input: linkToken.extend({ browser: boundedText(200), assertion: z.object(assertion) }),
    output: passkey,
  }),
  confirmLinkPasskey: route({
    ...link,
    http: "POST /link/:token/passkey/confirm",
    summary: "Confirm that the phone shows the same code",
    message: "Code confirmed",
    input: linkToken.extend({ browser: boundedText(200) }),
    output: passkey,
  }),
  cancelLinkPasskey: route({
    ...link,
    http: "POST /link/:token/passkey/cancel",
    summary: "End the pairing that waits for a passkey",
    message: "Pairing cancelled",
    input: linkToken.extend({ browser: boundedText(200) }),
    output: passkey,
  }),

  wahaPasskeyChallenge: route({
    ...WAHA,
    http: "GET /api/:session/auth/passkey/challenge",
    summary: "The challenge as WAHA answers it; 422 when none waits",
    input: z.object({ session }),
    output: z.record(z.string(), z.unknown()),
    bare: true,
  }),
  wahaPasskey: route({
    ...WAHA,
    http: "POST /api/:session/auth/passkey",
    summary: "Send the signed challenge, as to WAHA",
    bodyLimitBytes: 65_536,
    input: z.object({ session, ...assertion }),
    output: z.object({ success: z.boolean() }),
    bare: true,
  }),
  wahaPasskeyConfirmation: route({
    ...WAHA,
    http: "GET /api/:session/auth/passkey/confirmation",
    summary: "The code as WAHA answers it; 422 when none waits",
    input: z.object({ session }),
    output: z.object({ code: z.string() }),
    bare: true,
  }),
  wahaPasskeyConfirm: route({
    ...WAHA,
    http: "POST /api/:session/auth/passkey/confirm",
    summary: "Confirm the code, as to WAHA",
    input: z.object({ session }),
    output: z.object({ success: z.boolean() }),
    bare: true,
  }),
};
