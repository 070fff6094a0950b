import type { Config } from "../../platform/config/config.ts";
import type { Db } from "../../platform/db/database.ts";
import { FINDINGS } from "../../platform/findings.ts";
import type { SafeFetch } from "../../platform/outgoing/safe-fetch.ts";
import {
  readVersionState,
  remainingSeconds,
  type VersionState,
  versionAgeSeconds,
  versionPolicyOf,
  WEB_CLIENT_URL,
} from "../client-version/client-version.ts";
import type { DoctorFinding } from "./doctor-checks.ts";

const WHAT = "client version";
const PIN = "set WAYGATE_WHATSAPP_VERSION and renew it yourself";

/** Checks whether sessions log in with an automatically updated version of WhatsApp's web client. */
export async function checkClientVersion(
  db: Db,
  config: Config,
  outgoing: Pick<SafeFetch, "findBlockReason">,
): Promise<DoctorFinding> {
  const policy = versionPolicyOf(config);
  const state = await readVersionState(db, policy);
  const expiry = describeExpiry(state);
  if (expiry) return { label: WHAT, grade: "warn", ...expiry };
  if (!state.searching) return { label: WHAT, grade: "ok", detail: describeFixed(state) };
  const summary = `${state.version}, ${state.source}`;
  const origin = "origin" in policy ? policy.origin : WEB_CLIENT_URL;
  if (await outgoing.findBlockReason(origin, "operator")) {
    const fix = `Add web.whatsapp.com to WAYGATE_ALLOWED_HOSTS, or ${PIN}: WhatsApp rejects versions after some months.`;
    return {
      label: WHAT,
      grade: "warn",
      detail: `${summary}; the policy for outgoing requests does not allow the search for a newer one`,
      fix,
    };
  }
  return { label: WHAT, ...gradeAge(state, summary) };
}

function describeExpiry(state: VersionState): Pick<DoctorFinding, "detail" | "fix"> | undefined {
  const seconds = remainingSeconds(state);
  if (seconds === undefined) return undefined;
  const { action: fix } = FINDINGS.client_version_expiring;
  const days = Math.floor(seconds / 86_400);
  return { detail: `${state.version}, which WhatsApp refuses in ${days} days`, fix };
}

function describeFixed({ version, source }: VersionState): string {
  return source === "pinned"
    ? `${version}, which WAYGATE_WHATSAPP_VERSION sets; newer ones are not looked for`
    : `${version}, built in; newer ones are not looked for while WAYGATE_WHATSAPP_URL is set`;
}

function gradeAge(state: VersionState, summary: string): Omit<DoctorFinding, "label"> {
  const age = versionAgeSeconds(state);
  const why = state.problem === null ? "" : ` (last search: ${state.problem.replace(/\.$/, "")})`;
  const { limit, action: fix } = FINDINGS.client_version_old;
  if (age === null) {
    if (state.problem === null)
      return { grade: "ok", detail: `${summary}; a running gateway looks for a newer one` };
    return { grade: "warn", detail: `${summary}; no search has found a version yet${why}`, fix };
  }
  const aged = `${summary}, confirmed by WhatsApp ${Math.floor(age / 3600)} h ago`;
  return age > limit ? { grade: "warn", detail: `${aged}${why}`, fix } : { grade: "ok", detail: aged };
}
