import { z } from "zod";
import { isoTime, pageInput, pagination, route } from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { boundedText } from "../../platform/text/bounded-text.ts";

const tag = "Administration";

const backup = named(
  "Backup",
  z.object({
    id: z.string(),
    created_at: isoTime,
    status: z
      .enum(["running", "verified", "unverified", "failed"])
      .describe(
        "`verified`: it was restored into a temporary database and every table was compared. `unverified`: the file is complete, but no temporary database could be created; `reason` says why.",
      ),
    reason: z.string().nullable(),
    trigger: z.enum(["request", "schedule", "command"]),
    size: z.number().int().nullable().describe("Size of the file, in bytes."),
    file: z
      .string()
      .nullable()
      .describe("Name of the file in the backup directory; null after it is deleted."),
    node: z.string().nullable().describe("The node whose backup directory has the file."),
    checksum: z.string().nullable().describe("SHA-256 of the file, in hexadecimal."),
    encrypted: z.literal(true),
    key_id: z.string().nullable().describe("Identifies the backup key without revealing it."),
    app_version: z.string().nullable(),
    schema_version: z.string().nullable(),
    started_at: isoTime.nullable(),
    finished_at: isoTime.nullable(),
    verified_at: isoTime.nullable(),
    rows: z.record(z.string(), z.number().int()).describe("Number of rows of each table."),
  }),
);

const held = named(
  "HeldWork",
  z.object({
    backup: z.string().nullable().describe("Null: this database was not restored from a backup."),
    backup_at: isoTime.nullable(),
    restored_at: isoTime.nullable(),
    action: z.enum(["release", "discard"]).nullable(),
    decided_at: isoTime.nullable(),
    sends: z
      .number()
      .int()
      .describe("Jobs on hold: not yet decided, or the decision is not yet carried out."),
    deliveries: z.number().int(),
    others: z.number().int().describe("Such as edits and reactions."),
  }),
);

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
    errors: ["CONFLICT"],
    ...shared,
    summary: "Make a backup, and verify it by restoring it into a temporary database",
    description:
      "Responds when the backup is done, or after 30 seconds with the `status` `running`. The list then shows the result.",
    message: "Backup",
    input: z.object({}),
    output: backup,
  }),
  downloadBackup: route({
    http: "GET /api/admin/backups/:id/download",
    acts: { everything: true },
    errors: ["CONFLICT"],
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
    summary: "Get the jobs on hold after a restore: sends and deliveries that were pending in the backup",
    message: "Jobs on hold",
    input: z.object({}),
    output: held,
  }),
  decideHeldWork: route({
    http: "POST /api/admin/restored",
    acts: { irreversible: ["action=discard"] },
    errors: ["CONFLICT"],
    ...shared,
    summary: "Release or discard the jobs on hold after a restore",
    message: "Decision recorded",
    input: z.object({ action: z.enum(["release", "discard"]) }),
    output: held,
  }),
};
