import { homedir } from "node:os";
import type { DoctorFinding } from "../features/health/doctor-checks.ts";
import type { Env } from "../platform/config/config.ts";
import { packageVersion } from "../platform/config/package-version.ts";
import { maskUrl } from "../platform/outgoing/mask-url.ts";

/** What `waygate doctor --json` prints. Later versions may add fields and checks; the present ones keep their meaning. */
export interface DoctorReport {
  version: string;
  node: string;
  platform: string;
  /** Whether no check failed. */
  healthy: boolean;
  checks: { check: string; grade: DoctorFinding["grade"]; detail: string; fix: string | null }[];
}

const URL_IN_TEXT = /\b[a-z][a-z\d+.-]{1,20}:\/\/[^\s"'<>()]+/gi;
const SECRET_NAME = /KEY|SECRET|TOKEN|PASSWORD/;
/** A shorter value could be part of an ordinary word. */
const SHORTEST_SECRET = 8;

/** The findings for an issue: without secrets, the paths of URLs, and the name of the user in the home directory. */
export function toDoctorReport(findings: readonly DoctorFinding[], env: Env): DoctorReport {
  const mask = createMask(env, homedir());
  return {
    version: packageVersion(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    healthy: findings.every(({ grade }) => grade !== "fail"),
    checks: findings.map(({ label, grade, detail, fix }) => ({
      check: label.toLowerCase().replaceAll(" ", "_"),
      grade,
      detail: mask(detail),
      fix: fix === undefined ? null : mask(fix),
    })),
  };
}

function createMask(env: Env, home: string): (text: string) => string {
  const secrets = Object.entries(env).flatMap(([name, value = ""]) =>
    SECRET_NAME.test(name) && value.trim().length >= SHORTEST_SECRET ? [value.trim()] : [],
  );
  return (text) => {
    const hidden = secrets.reduce((shown, secret) => shown.replaceAll(secret, "****"), text);
    const masked = hidden.replace(URL_IN_TEXT, maskUrl);
    return home.length > 1 ? masked.replaceAll(home, "~") : masked;
  };
}
