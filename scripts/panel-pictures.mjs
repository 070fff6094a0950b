// Makes the pictures of docs/guides/panel.md from the screenshots that the tests of the panel keep.
// First run them: npx vitest run panel
import { mkdirSync } from "node:fs";
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

mkdirSync(PICTURES, { recursive: true });
await Promise.all(
  SHOWN.map((name) =>
    sharp(join(SHOTS, `${name}.png`))
      .webp({ quality: 80 })
      .toFile(join(PICTURES, `${name}.webp`)),
  ),
);
