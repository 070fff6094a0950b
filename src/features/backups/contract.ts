import { z } from "zod";
import { isoTime, pageInput, pagination, route } from "../../platform/http/route.ts";
import { boundedText } from "../../platform/text/bounded-text.ts";

const tag = "Administration";

const backup = z.object({
  id: z.string(),
  created_at: isoTime,
  status: z
    .enum(["running", "verified", "unverified", "failed"])
    .describe(
      "`verified`: it was restored into a scratch database and every table compared. `unverified`: it is whole, but no scratch database could be made; `reason` says why.",
    ),
  reason: z.string().nullable(),
  trigger: z.enum(["request", "schedule", "command"]),
  size: z.number().nullable().describe("Of the file, in bytes."),
  file: z.string().nullable().describe("Its name in the backup directory; null once it is gone."),
  node: z.string().nullable().describe("The node in whose backup directory it is."),
  checksum: z.string().nullable().describe("SHA-256 of the file, hex."),
  encrypted: z.literal(true),
  key_id: z.string().nullable().describe("Names the backup key without giving it away."),
  app_version: z.string().nullable(),
  schema_version: z.string().nullable(),
  started_at: isoTime.nullable(),
  finished_at: isoTime.nullable(),
  verified_at: isoTime.nullable(),
  rows: z.record(z.string(), z.number().int()).describe("Rows by table."),
});

const held = z.object({
  backup: z.string().nullable().describe("Null: this database was not restored from a backup."),
  backup_at: isoTime.nullable(),
  restored_at: isoTime.nullable(),
  action: z.enum(["release", "discard"]).nullable(),
  decided_at: isoTime.nullable(),
  sends: z.number().int().describe("Held back, not yet decided or not yet done."),
  deliveries: z.number().int(),
  others: z.number().int().describe("Such as edits and reactions."),
});

const shared = { access: "owner", role: "admin", tag } as const;

export const backupsContract = {
  listBackups: route({
    http: "GET /api/admin/backups",
    ...shared,
    summary: "List the backups, newest first",
    message: "Backups",
    input: z.object(pageInput),
    output: z.array(backup),
    beside: z.object({ pagination }),
  }),
  createBackup: route({
    http: "POST /api/admin/backups",
    ...shared,
    summary: "Make an operational backup, restore it into a scratch database at once and compare",
    description:
      "Answers when it is done, after 30 seconds at most; then `status` is `running` and the list tells how it ended.",
    message: "Backup",
    input: z.object({}),
    output: backup,
  }),
  downloadBackup: route({
    http: "GET /api/admin/backups/:id/download",
    needsPassword: true,
    ...shared,
    summary: "Download the encrypted file of a backup",
    input: z.object({ id: boundedText(64) }),
    output: z.never(),
    raw: "application/octet-stream",
    streamed: true,
  }),
  getHeldWork: route({
    http: "GET /api/admin/restored",
    ...shared,
    summary: "What a restored gateway holds back: sends and deliveries that were pending in the backup",
    message: "Held back",
    input: z.object({}),
    output: held,
  }),
  decideHeldWork: route({
    http: "POST /api/admin/restored",
    ...shared,
    summary: "Release or discard what a restored gateway holds back",
    message: "Decided",
    input: z.object({ action: z.enum(["release", "discard"]) }),
    output: held,
  }),
};
