// Makes the pictures of docs/guides/panel.md, and docs/reference/panel-pages.md with its pictures, from the screenshots
// that the tests of the panel keep. First run them: npx vitest run panel
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import sharp from "sharp";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SHOTS = join(ROOT, "test-artifacts/panel");
const PICTURES = join(ROOT, "docs/images/panel");

/** Names of screenshots: what is shown, the width of the window, the theme. */
const SHOWN = [
  "home-attention-1280-light",
  "instances-list-1280-light",
  "instances-list-1280-dark",
  "pairing-qr-360-light",
  "receiver-1280-light",
  "settings-360-dark",
  "chat-1280-light",
  "chat-1280-dark",
  "chat-360-light",
  "webhook-1280-dark",
  "webhook-attempt-360-light",
  "integration-typebot-1280-light",
  "campaign-report-1280-light",
  "board-1280-light",
  "account-1280-light",
  "administration-monitor-1280-light",
  "administration-backups-1280-dark",
];

/** Every page by the name of its screenshots in panel/every-page.release.test.ts; part: pages. */
const PAGES = {
  Start: { home: "Home", settings: "Settings of this browser" },
  Instances: {
    instances: "Instances",
    "instances-new": "A new instance",
    "instances-id": "An instance",
    "instances-id-link": "Link a phone",
    "instances-id-send": "Send the first message",
    "instances-id-logs": "Logs of an instance",
    "instances-id-settings": "Settings of an instance",
  },
  Conversations: { "instances-id-chats": "Chats", "instances-id-chats-jid": "A conversation" },
  Webhooks: {
    "instances-id-webhooks": "Webhooks",
    "instances-id-webhooks-new": "A new webhook",
    "instances-id-webhooks-webhookId": "A webhook",
    "instances-id-webhooks-webhookId-edit": "Change a webhook",
    "instances-id-webhooks-events": "Events",
    "instances-id-webhooks-events-eventId": "An event",
    "instances-id-webhooks-attempts": "Delivery attempts",
    "instances-id-webhooks-attempts-logId": "One attempt",
  },
  Integrations: {
    "instances-id-integrations": "Integrations",
    "instances-id-integrations-provider": "An integration",
  },
  Campaigns: {
    campaigns: "Campaigns",
    "campaigns-new": "A new campaign",
    "campaigns-id": "A campaign",
    "campaigns-id-edit": "Change a campaign",
  },
  CRM: {
    crm: "Contacts",
    "crm-board": "Board",
    "crm-id": "A contact",
    "crm-fields": "Fields",
    "crm-import": "Import contacts",
    "quick-replies": "Quick replies",
  },
  Account: {
    account: "Account",
    "account-users": "Users",
    "account-keys": "API keys",
    "account-assistants": "Assistants",
    "account-privacy": "Privacy",
    "account-security": "Security",
  },
  Administration: {
    administration: "Overview",
    "administration-monitor": "Monitor",
    "administration-accounts": "Accounts",
    "administration-accounts-new": "A new account",
    "administration-accounts-accountId": "An account",
    "administration-plans": "Plans",
    "administration-plans-planId": "A plan",
    "administration-logs": "Logs",
    "administration-backups": "Backups",
    "administration-requests": "Privacy requests",
    "administration-system": "System",
  },
};
const INTRODUCTION =
  "Each picture shows a page in light, in dark, and on a phone. [The panel](../guides/panel.md) says what the pages are for.";
const HEIGHT = 430;
const GAP = 10;

mkdirSync(join(PICTURES, "pages"), { recursive: true });
await Promise.all(
  SHOWN.map((name) =>
    sharp(join(SHOTS, `${name}.png`))
      .webp({ quality: 80 })
      .toFile(join(PICTURES, `${name}.webp`)),
  ),
);

const names = Object.values(PAGES).flatMap((pages) => Object.keys(pages));
await Promise.all(names.map(drawPage));
writeFileSync(join(ROOT, "docs/reference/panel-pages.md"), describePages());

/** One picture of a page: desktop in light and dark, and phone. */
async function drawPage(name) {
  const shots = ["1280-light", "1280-dark", "360-light"].map((kind) =>
    join(SHOTS, `page-${name}-${kind}.png`),
  );
  const drawn = await Promise.all(
    shots.map((file) => sharp(file).resize({ height: HEIGHT }).toBuffer({ resolveWithObject: true })),
  );
  let left = 0;
  const parts = drawn.map(({ data, info }) => {
    const part = { input: data, left, top: 0 };
    left += info.width + GAP;
    return part;
  });
  const background = { r: 128, g: 128, b: 128, alpha: 0 };
  await sharp({ create: { width: left - GAP, height: HEIGHT, channels: 4, background } })
    .composite(parts)
    .webp({ quality: 70 })
    .toFile(join(PICTURES, "pages", `${name}.webp`));
}

function describePages() {
  const parts = Object.entries(PAGES).map(([part, pages]) => {
    const shown = Object.entries(pages).map(
      ([name, title]) =>
        `### ${title}\n\n![${title}: light, dark, and on a phone](../images/panel/pages/${name}.webp)`,
    );
    return `## ${part}\n\n${shown.join("\n\n")}`;
  });
  return `# Every page of the panel\n\n${INTRODUCTION}\n\n${parts.join("\n\n")}\n`;
}
