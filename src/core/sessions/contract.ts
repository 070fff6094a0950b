import { z } from "zod";
import { sendError } from "../../platform/http/reason-schemas.ts";
import { isoTime, route } from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { coercedText } from "../../platform/text/bounded-text.ts";
import { instanceId } from "../events/contract.ts";
import { attention, INSTANCES_TAG, instanceStatus } from "../instances/contract.ts";

const tag = INSTANCES_TAG;

const timeOrNull = isoTime.nullable();
const text = z.string().nullable();

export const pairingError = named(
  "PairingError",
  z.object({
    code: z.string().describe("A code of the page on errors, such as `wrong_code`."),
    message: z.string().describe("What happened."),
    action: z.string().describe("What the person who links can do."),
    retry_at: z.string().optional().describe("Before this time WhatsApp rejects another attempt."),
  }),
)
  .nullable()
  .describe("Why the last pairing failed; null after the next connect, QR code or pairing code.");

export const qrReason = named(
  "QrReason",
  z
    .enum(["new", "refreshed"])
    .nullable()
    .describe("`refreshed`: WhatsApp replaced the QR code during the scan; the phone must scan again."),
);
const hint = text.describe("Advice for the person who scans; null: none.");

const connection = named(
  "Connection",
  z.object({
    id: z.number().int(),
    name: z.string(),
    status: instanceStatus,
    connection_status: instanceStatus,
    connected: z.boolean(),
    logged_in: z.boolean(),
    loggedIn: z.boolean(),
    phone: text,
    phone_connected: text,
    phoneConnected: text,
    jid: text,
    lid: text,
    profile_name: text,
    profileName: text,
    profile_picture_url: text,
    profilePictureUrl: text,
    platform: text,
    updated_at: isoTime,
    updatedAt: isoTime,
    reason: text,
    attempts: z
      .number()
      .int()
      .describe(
        "Connections that failed or were lost since the last one, or since `connect`; 0 while connected.",
      ),
    new_chats_locked_until: timeOrNull,
    pairing_error: pairingError,
    qr_reason: qrReason,
    hint,
    attention,
  }),
);

const pairing = z.object({
  qr: text.describe("Data URL of the QR as PNG."),
  qr_code: text.describe("Text of the QR code."),
  pairing_code: text,
  pairing_phone: text.describe("The number that `pairing_code` links."),
  expires_at: timeOrNull,
  attempt: z.number().int().nullable(),
  max_attempts: z.number().int().nullable(),
  qr_reason: qrReason,
  hint,
  pairing_error: pairingError,
});

export const sessionsContract = {
  getInstanceStatus: route({
    http: "GET /api/v1/instances/:id/status",
    access: "instance",
    tag,
    summary: "Get the connection status and the connected identity",
    message: "Instance status",
    input: z.object({ id: instanceId }),
    output: connection.extend({
      seconds_since_last_inbound: z.number().int().nullable().describe("null: no message has arrived yet."),
      messages_24h: z.number().int().describe("At most 10000, which means 10000 or more."),
      failures_24h: z.number().int(),
      last_errors: z
        .array(sendError.omit({ retryable: true }).extend({ at: z.string() }))
        .describe("Of the last 24 hours, newest first."),
    }),
  }),
  streamInstanceStates: route({
    http: "GET /api/v1/instance-states/stream",
    access: "account",
    keepsToInstances: true,
    tag,
    summary:
      "Follow the states of the account's instances as server-sent events: `ready`, then a `state` for each change, or `removed`",
    input: z.object({}),
    output: z.never(),
    raw: "text/event-stream",
    streamed: true,
  }),
  getInstanceQr: route({
    http: "GET /api/v1/instances/:id/qr",
    access: "instance",
    tag,
    summary: "Get the current QR code while the instance awaits pairing; `format=png` returns the image",
    message: "QR code",
    input: z.object({ id: instanceId, format: z.enum(["json", "png"]).default("json") }),
    output: z.object({ id: z.number().int(), status: instanceStatus, ...pairing.shape }),
    raw: "image/png",
  }),
  connectInstance: route({
    http: "POST /api/v1/instances/:id/connect",
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED", "CONNECT_FAILED"],
    access: "instance",
    tag,
    summary: "Start the connection; waits for the first QR, pairing code or connection",
    message: "Connection started",
    aliases: { phone: ["number"], wait_seconds: ["waitSeconds"] },
    example: { wait_seconds: 5 },
    input: z.object({
      id: instanceId,
      phone: coercedText(200)
        .optional()
        .describe("Requests a pairing code for this phone instead of a QR code."),
      wait_seconds: z.coerce.number().min(0).max(60).default(5),
    }),
    output: z.object({ ...connection.shape, ...pairing.shape }),
  }),
  reconnectInstance: route({
    http: "POST /api/v1/instances/:id/reconnect",
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED", "CONNECT_FAILED"],
    access: "instance",
    tag,
    summary: "Reconnect with the same pairing; does not log out",
    message: "Reconnecting",
    input: z.object({ id: instanceId, wait_seconds: z.coerce.number().min(0).max(60).default(5) }),
    aliases: { wait_seconds: ["waitSeconds"] },
    output: connection,
  }),
  logoutInstance: route({
    http: "POST /api/v1/instances/:id/logout",
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED", "CONNECT_FAILED"],
    access: "instance",
    role: "admin",
    tag,
    summary: "Unlink from the phone and delete the pairing",
    message: "Logged out",
    input: z.object({ id: instanceId }),
    output: connection,
  }),
};
