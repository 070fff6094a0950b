import { z } from "zod";
import { route, type UploadedFile } from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { rule } from "../../platform/issue-codes.ts";
import { boundedText, trimmedText } from "../../platform/text/bounded-text.ts";
import { instanceId as id } from "../events/contract.ts";
import { SESSION_ERRORS } from "../instances/contract.ts";

/** Enough for the largest picture in base64. */
const PICTURE_BODY_BYTES = 24 * 1024 * 1024;

const pictureText = boundedText(PICTURE_BODY_BYTES);

const profile = named(
  "Profile",
  z.object({
    jid: z.string(),
    lid: z.string().nullable(),
    phone: z.string().nullable(),
    name: z.string().nullable(),
    about: z.string().nullable(),
    status: z.string().nullable().describe("As `about`."),
    picture_url: z.string().nullable(),
    is_business: z.boolean(),
    business: z
      .object({
        description: z.string().optional(),
        category: z.string().optional(),
        email: z.string().optional(),
        website: z.array(z.string()).optional(),
        address: z.string().optional(),
      })
      .nullable(),
    privacy: z
      .record(z.string(), z.string())
      .describe(
        "Privacy settings under the network's names, such as `last` or `groupadd`: who may see or do it.",
      ),
  }),
);

function isUpload(value: unknown): boolean {
  return typeof value === "object" && value !== null && "bytes" in value && value.bytes instanceof Uint8Array;
}

const tag = "Profile";
const access = "instance";

export const profileContract = {
  getProfile: route({
    http: "GET /api/v1/instances/:id/profile",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Get the profile of the paired phone, its business data and its privacy settings",
    message: "Profile",
    input: z.object({ id }),
    output: profile,
  }),
  setProfileName: route({
    http: "POST /api/v1/instances/:id/profile/name",
    role: "admin",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Change the name that others see",
    message: "Name changed",
    aliases: { name: ["profileName", "profile_name", "pushName"] },
    input: z.object({
      id,
      name: trimmedText(25).min(1, "must not be empty"),
    }),
    output: z.object({ name: z.string() }),
  }),
  setProfileStatus: route({
    http: "POST /api/v1/instances/:id/profile/status",
    role: "admin",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Change the text that others see below the name; empty removes it",
    message: "Status text changed",
    aliases: { text: ["status", "about"] },
    input: z.object({ id, text: trimmedText(139) }),
    output: z.object({ about: z.string().nullable(), status: z.string().nullable() }),
  }),
  setProfilePhoto: route({
    http: "POST /api/v1/instances/:id/profile/photo",
    role: "admin",
    requiresBody: true,
    errors: [...SESSION_ERRORS, "MEDIA_DOWNLOAD_FAILED", "STORAGE_FULL"],
    access,
    tag,
    summary: "Change the picture that others see; null removes it",
    description:
      "Send an address, base64 or a part of a form. The gateway cuts the middle of the picture to a square.",
    message: "Photo changed",
    upload: "file",
    bodyLimitBytes: PICTURE_BODY_BYTES,
    aliases: { base64: ["photo", "picture", "image", "link", "media", "data"] },
    input: z.object({
      id,
      url: pictureText.nullable().optional().describe("Address of the picture; null removes it."),
      base64: pictureText
        .nullable()
        .optional()
        .describe("The picture in base64, or a data URI or an address; null removes it."),
      file: z
        .union([
          z.custom<UploadedFile>(
            isUpload,
            rule("must be a file or text", "wrong_type", { expected: "file, text" }),
          ),
          pictureText,
        ])
        .optional()
        .describe("The picture as a part of a multipart/form-data body."),
    }),
    output: z.object({ picture_url: z.string().nullable() }),
  }),
};
