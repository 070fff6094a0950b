import { PAIRING_ERROR_CODES, pairingError } from "../src/network/whatsapp/pairing/pairing-error.ts";
import { DELIVERY_REASONS } from "../src/platform/delivery-reasons.ts";
import { ERROR_CODES, MESSAGE_ERROR_CODES, TOOL_ERROR_CODES } from "../src/platform/error-codes.ts";
import { ISSUE_CODES, type ReasonTable } from "../src/platform/issue-codes.ts";
import { SEND_REASONS } from "../src/platform/send-reasons.ts";
import { EXTENSIONS } from "../src/processes/extensions.ts";

const HEAD = `# Errors

<!-- Written by \`npm run generate\` from src/platform/error-codes.ts, src/platform/issue-codes.ts and src/network/whatsapp/pairing/pairing-error.ts. -->

A request that fails has a status of 400 or more and a body of this form. The example sends a text without a recipient:

\`\`\`sh
curl -s -i -w '\\n' localhost:3000/api/v1/instances/1/send-text -H "x-api-key: $KEY" \\
  -H 'content-type: application/json' -d '{"text":"Hello"}'
\`\`\`

\`\`\`http
HTTP/1.1 400 Bad Request

{
  "success": false,
  "code": "VALIDATION_ERROR",
  "message": "number: one of number, phone or jid is required",
  "error": "number: one of number, phone or jid is required",
  "details": {
    "fields": [
      {
        "field": "number",
        "code": "one_of_required",
        "params": {
          "fields": "number, phone, jid"
        },
        "issue": "one of number, phone or jid is required"
      }
    ]
  },
  "request_id": "req_01M7VZ7A9ZBG8NWRNYBYXP4FZP"
}
\`\`\`

Let your program decide by \`code\`: codes are stable. \`message\` and \`issue\` are sentences for people and can change; \`error\`
repeats \`message\`. Give \`request_id\` to the operator, who finds the request in the log by it. With \`Accept: application/problem+json\` the
body has the form of RFC 9457 and the same \`code\`.

If a repetition can help later, the response has the header \`Retry-After\` with the seconds to wait. With an
[\`Idempotency-Key\`](../guides/asynchronous-sends.md) a repetition never sends twice.

## Codes of responses

| Code | Status | Meaning | What to do |
|---|---|---|---|
`;

const ISSUES = `
## Codes of wrong fields

Each entry of \`details.fields\`, and each refused row of an import or a campaign, has one of these codes, with at least the
\`params\` in brackets:

`;

const FAILED_MESSAGES = `
## Codes of failed messages

A failed message and [\`message.failed\`](events/README.md) have \`error\` with \`code\`, \`reason\`, \`params\`,
\`message\` and \`retryable\`. The code is one of the first table, or of this one. Send again only if \`retryable\` is true.

| Code | Meaning | What to do |
|---|---|---|
`;

const REASONS = `
The \`reason\` says more than the code, with the \`params\` in brackets; \`number\` is the network's own code:

`;

const DELIVERIES = `
## Reasons of failed deliveries and integrations

A delivery and its attempts have \`reason\` and \`params\` beside \`error\`, and a disabled webhook in \`disabled_error\`:

`;

const PAIRING = `
## Codes of failed pairings

\`pairing_error\` of an instance and [\`instance.pairing_failed\`](events/README.md) carry one of these codes, with
the same sentences ([Pairing a phone](../guides/pairing.md)).

| Code | Meaning | What to do |
|---|---|---|
`;

const TOOLS = `
## Codes of the assistant tools

The [assistant tools](../guides/assistant-tools.md) return the codes of responses, and these two:

| Code | Meaning | What to do |
|---|---|---|
`;

const ELSEWHERE = `
## Codes on other pages

[Production readiness](../operation/production-readiness.md) explains the \`production_blockers\` of \`/health\`, [Session
states](session-states.md) the \`last_disconnect_reason\` of an instance, and [Campaign states](campaign-states.md) the
\`status_reason\` of a campaign.
`;

/** docs/reference/errors.md. */
export function errorPage(): string {
  const responses = Object.entries(ERROR_CODES).map(
    ([code, { status, meaning, advice }]) => `| \`${code}\` | ${status} | ${meaning} | ${advice} |\n`,
  );
  const messages = toRows(MESSAGE_ERROR_CODES);
  const tools = toRows(TOOL_ERROR_CODES);
  const pairings = PAIRING_ERROR_CODES.map((code) => {
    const { message, action } = pairingError(code);
    return `| \`${code}\` | ${message} | ${action} |\n`;
  });
  return [
    HEAD,
    ...responses,
    ISSUES,
    listReasons(ISSUE_CODES),
    FAILED_MESSAGES,
    ...messages,
    REASONS,
    listReasons(SEND_REASONS),
    DELIVERIES,
    listReasons(DELIVERY_REASONS),
    ...EXTENSIONS.flatMap(({ reasons }) =>
      reasons ? [`\n${reasons.shownIn}:\n\n`, listReasons(reasons.codes)] : [],
    ),
    PAIRING,
    ...pairings,
    TOOLS,
    ...tools,
    ELSEWHERE,
  ]
    .join("")
    .replace(/^\|.*\|$/gm, withoutSpaces);
}

/** A table of Markdown needs no spaces beside its lines. */
function withoutSpaces(row: string): string {
  return row.replaceAll(/ ?\| ?/g, "|");
}

function listReasons(table: ReasonTable): string {
  const reasons = Object.entries(table).map(([code, params]) => {
    const names = params.map((name) => `\`${name}\``).join(", ");
    return `\`${code}\`${names && ` (${names})`}`;
  });
  return `${reasons.join(", ")}.\n`;
}

function toRows(codes: Readonly<Record<string, { meaning: string; advice: string }>>): string[] {
  return Object.entries(codes).map(
    ([code, { meaning, advice }]) => `| \`${code}\` | ${meaning} | ${advice} |\n`,
  );
}
