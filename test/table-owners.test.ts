import { describe, expect, it } from "vitest";
import { tablesByOwner } from "../src/core/declared-tables.ts";
// Fills the declarations of extensions.
import "../src/processes/extensions.ts";
import { readSources, type SourceFile } from "./source-files.ts";

const WRITES =
  /(?:insertInto|updateTable|deleteFrom|mergeInto)\(\s*"([a-z_.]+)"|\b(?:insert into|delete from|truncate(?: table)?|merge into|copy)\s+([a-z_]+(?:\.[a-z_]+)?)\b|\bupdate\s+(?:only\s+)?([a-z_]+(?:\.[a-z_]+)?)(?:\s+(?:as\s+)?[a-z_]+)?\s+set\b/g;
/** The table name is a value, so the table is unknown here. */
const WRITES_BY_NAME =
  /(?:insertInto|updateTable|deleteFrom|mergeInto)\(\s*[a-z]|\b(?:insert into|delete from|truncate(?: table)?|merge into|copy|update)\s+\$\{/;
const COMMENTS = /\/\*\*?[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/** The part that a file belongs to: a feature, the sandbox network, or a folder of src. */
function partOf(path: string): string {
  return path.match(/^src\/(?:(?:core|extensions|network)\/)?([^/]+)\//)?.[1] ?? "src";
}

/** Tables that a file's statements write. Words that are no table are ignored. */
function readWrites({ text }: SourceFile, tables: ReadonlySet<string>): string[] {
  const found = [...text.replace(COMMENTS, "").matchAll(WRITES)].map(
    ([, call, statement, update]) => call ?? statement ?? update ?? "",
  );
  return [...new Set(found.filter((name) => tables.has(name)))];
}

function writesByName({ text }: SourceFile): boolean {
  return WRITES_BY_NAME.test(text.replace(COMMENTS, ""));
}

function nameOf({ path }: SourceFile): string {
  return path.replace(/^src\/(?:(?:core|extensions|network)\/)?/, "");
}

/** Declared tables with their owners. The sandbox network owns its schema. */
function readOwners(): Map<string, string> {
  const made = readSources("migrations").flatMap(({ text }) => [
    ...text.matchAll(/create (?:unlogged )?table (sandbox\.\w+)/g),
  ]);
  const ofSandbox = [...made.map(([, name = ""]) => name), "sandbox.inbox"];
  const declared = Object.entries(tablesByOwner()).flatMap(([owner, list]) =>
    Object.keys(list).map((table) => [table, owner] as const),
  );
  return new Map([...declared, ...ofSandbox.map((table) => [table, "sandbox"] as const)]);
}

const sources = readSources("src").filter(({ path }) => !path.endsWith(".test.ts"));
const owners = readOwners();

/** Written by triggers only. */
const WRITTEN_BY_THE_DATABASE = ["storage_usage", "stored_file"];

/** Files of other parts that write a table, relative to `src`, `core`, `extensions` or `network`. */
const ALSO_WRITTEN_BY: Readonly<Record<string, readonly string[]>> = {
  account_user: ["instances/request-removal.ts"],
  action: ["backups/held-jobs.ts", "privacy/cancel-steps.ts"],
  api_key: ["accounts/access/credential-cache.ts"],
  api_log: ["sessions/remove-instance.ts"],
  attempt: ["sessions/remove-instance.ts"],
  audit: ["accounts/finish-account-removals.ts"],
  campaign: ["backups/finish-restore.ts"],
  connection_log: ["sessions/remove-instance.ts"],
  contact: ["messages/send/record-outcome.ts"],
  conversation: [
    "chats/record-chat-update.ts",
    "groups/save-groups.ts",
    "messages/inbound/insert-inbound-messages.ts",
    "messages/send/insert-messages.ts",
    "messages/send/record-outcome.ts",
    "messages/send/run-send.ts",
    "messages/send/run/release-due-sends.ts",
  ],
  credential: ["backups/finish-restore.ts"],
  delivery: [
    "backups/held-jobs.ts",
    "events/events.ts",
    "privacy/cancel-steps.ts",
    "privacy/erase-message-steps.ts",
    "sessions/remove-instance.ts",
    "retention/retention-jobs.ts",
  ],
  erasure_log: ["backups/erasure-log.ts", "privacy/find-person.ts"],
  event: ["sessions/remove-instance.ts", "retention/retention-jobs.ts", "privacy/person-trace-steps.ts"],
  event_counter: ["instances/create-instance.ts", "sessions/remove-instance.ts"],
  group_chat: ["privacy/person-trace-steps.ts", "sessions/remove-instance.ts"],
  group_list: ["sessions/remove-instance.ts"],
  held_job: ["privacy/cancel-steps.ts"],
  idempotency: ["sessions/remove-instance.ts", "privacy/person-trace-steps.ts"],
  instance: [
    "backups/finish-restore.ts",
    "messages/send/new-chats.ts",
    "messages/send/run/send-circuit-breakers.ts",
    "profile/profile.ts",
    "sessions/connection/connect-instance.ts",
    "sessions/connection/mark-seen-instances.ts",
    "sessions/session-event-recorder.ts",
    "sessions/remove-instance.ts",
    "webhooks/save-webhook.ts",
  ],
  job: [
    "accounts/finish-account-removals.ts",
    "backups/finish-restore.ts",
    "backups/held-jobs.ts",
    "campaigns/campaign-lane.ts",
    "campaigns/change-campaign-handlers.ts",
    "campaigns/campaigns.ts",
    "campaigns/withdraw-sends.ts",
    "contacts/move-messages.ts",
    "events/events.ts",
    "integrations/typebot/claim-turn.ts",
    "integrations/delivery/complete-job.ts",
    "integrations/typebot/pause-bot-for-agent.ts",
    "integrations/delivery/resume-deliveries.ts",
    "integrations/delivery/retry-request.ts",
    "integrations/save-integration.ts",
    "media/media-job-runner.ts",
    "media/media.ts",
    "media/record-ready-file.ts",
    "messages/actions/action-runner.ts",
    "messages/send/insert-messages.ts",
    "messages/send/record-outcome.ts",
    "messages/receipts/record-receipts.ts",
    "messages/scheduled/scheduled-handlers.ts",
    "messages/send/run/release-due-sends.ts",
    "messages/send/submit-sends.ts",
    "privacy/cancel-steps.ts",
    "sessions/remove-instance.ts",
    "sessions/run-control-job.ts",
    "webhooks/delivery/attempt-writer.ts",
    "webhooks/recover-deliveries.ts",
    "webhooks/remove-webhook.ts",
  ],
  lane: [
    "accounts/finish-account-removals.ts",
    "backups/finish-restore.ts",
    "integrations/save-integration.ts",
    "sessions/remove-instance.ts",
  ],
  media: [
    "privacy/erase-message-steps.ts",
    "retention/retention-jobs.ts",
    "sessions/delete-network-copies.ts",
  ],
  message: [
    "backups/finish-restore.ts",
    "backups/held-jobs.ts",
    "campaigns/withdraw-sends.ts",
    "chats/record-chat-update.ts",
    "contacts/move-messages.ts",
    "instances/change-status.ts",
    "integrations/typebot/pause-bot-for-agent.ts",
    "privacy/cancel-steps.ts",
    "sessions/delete-network-copies.ts",
    "retention/retention-jobs.ts",
    "privacy/person-trace-steps.ts",
  ],
  message_receipt: [
    "privacy/delete-row-steps.ts",
    "sessions/remove-instance.ts",
    "privacy/person-trace-steps.ts",
  ],
  poll_vote: ["sessions/remove-instance.ts"],
  message_search: [
    "campaigns/withdraw-sends.ts",
    "contacts/move-messages.ts",
    "privacy/erase-message-steps.ts",
    "sessions/remove-instance.ts",
    "retention/retention-jobs.ts",
    "privacy/person-trace-steps.ts",
  ],
  message_usage: ["campaigns/withdraw-sends.ts"],
  number_check: ["sessions/remove-instance.ts"],
  oauth_grant: ["backups/finish-restore.ts"],
  outgoing_media: [
    "campaigns/campaign-erasure.ts",
    "integrations/typebot/pause-bot-for-agent.ts",
    "media/record-ready-file.ts",
    "privacy/cancel-steps.ts",
    "privacy/erase-message-steps.ts",
    "retention/retention-jobs.ts",
  ],
  sign_in: ["backups/finish-restore.ts"],
  webhook: ["sessions/remove-instance.ts"],
};

/** These files write a list of tables: of an account, an instance, a day, a backup or a contact. */
const BY_NAME = [
  "accounts/finish-account-removals.ts",
  "backups/file/load-backup.ts",
  "integrations/node-integrations.ts",
  "platform/db/partitions.ts",
  "privacy/anonymise-table-steps.ts",
  "privacy/delete-row-steps.ts",
  "retention/retention-jobs.ts",
  "sandbox/world/delete-copies.ts",
  "secrets/rotate-secrets.ts",
  "sessions/remove-instance.ts",
  "sessions/sealed-pairing-store.ts",
  "webhooks/delivery/attempt-writer.ts",
];

const tables = new Set(owners.keys());

/** Files that write each table. */
function readWriters(files: readonly SourceFile[]): Map<string, SourceFile[]> {
  const writers = new Map<string, SourceFile[]>();
  for (const file of files) {
    for (const table of readWrites(file, tables)) writers.set(table, [...(writers.get(table) ?? []), file]);
  }
  return writers;
}

const writers = readWriters(sources);

describe("a table", () => {
  it("is declared by one owner", () => {
    const all = Object.values(tablesByOwner()).flatMap((list) => Object.keys(list));
    expect(all.filter((table, index) => all.indexOf(table) !== index)).toEqual([]);
    const parts = new Set(sources.map(({ path }) => partOf(path)));
    expect([...owners.values()].filter((owner) => !parts.has(owner))).toEqual([]);
  });

  it("is written only by its owner, and by the known files of other parts", () => {
    const found = [...writers].flatMap(([table, files]) =>
      files
        .filter(({ path }) => partOf(path) !== owners.get(table))
        .map((file) => `${table}: ${nameOf(file)}`),
    );
    const listed = Object.entries(ALSO_WRITTEN_BY).flatMap(([table, others]) =>
      others.map((file) => `${table}: ${file}`),
    );
    expect(found.toSorted()).toEqual(listed.toSorted());
  });

  it("is written by its owner, unless the database writes it", () => {
    const unwritten = [...owners].filter(
      ([table, owner]) => !writers.get(table)?.some(({ path }) => partOf(path) === owner),
    );
    expect(unwritten.map(([table]) => table).toSorted()).toEqual(WRITTEN_BY_THE_DATABASE);
  });

  it("is written under a name that is a value in the known files only", () => {
    expect(sources.filter(writesByName).map(nameOf).toSorted()).toEqual(BY_NAME);
  });
});

it("the check reads every form of a statement that writes", () => {
  const text = [
    'db.insertInto("message")',
    "sql`insert into event (id)`",
    "`update instance i set name = 'x'`",
    "`update only lane set owner = null`",
    "`update sandbox.device as d set id = 1`",
    "`delete from webhook w using x`",
    "`truncate table lead`",
    "`copy consent (id) from stdin`",
    "`select from media for update`",
    "`on conflict (id) do update set name = excluded.name`",
    "// delete from plan",
    "/** Update the account set. */",
  ].join("\n");
  expect(readWrites({ path: "src/x.ts", text, imports: [] }, tables)).toEqual([
    "message",
    "event",
    "instance",
    "lane",
    "sandbox.device",
    "webhook",
    "lead",
    "consent",
  ]);
});
