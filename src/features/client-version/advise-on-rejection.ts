import type { ClientVersion, ClientVersionRejection } from "../../network/client-version.ts";
import type { VersionPolicy } from "./client-version.ts";

/** Advice about a rejected version. `next`: the newer version to use; `problem`: the last search's error. */
export function adviseOnRejection(
  version: ClientVersion,
  policy: VersionPolicy,
  next: ClientVersion | undefined,
  problem: string | null | undefined,
): Pick<ClientVersionRejection, "message" | "action"> {
  const refused = `WhatsApp rejects version ${version.join(".")} of its web client`;
  if (next) return { message: `${refused}.`, action: `The gateway tries ${next.join(".")}.` };
  if ("pinned" in policy) {
    return {
      message: `${refused}, which WAYGATE_WHATSAPP_VERSION sets.`,
      action:
        "Set it to the version of web.whatsapp.com, or remove it so that the gateway finds the version itself, and restart.",
    };
  }
  if ("off" in policy) {
    return {
      message: `${refused}.`,
      action: "Update Waygate, or set WAYGATE_WHATSAPP_VERSION to a current one and restart.",
    };
  }
  if (problem) {
    return {
      message: `${refused}, and the gateway found no newer one (${problem.replace(/\.$/, "")}).`,
      action:
        "Let the gateway reach https://web.whatsapp.com, or set WAYGATE_WHATSAPP_VERSION to a current one and restart.",
    };
  }
  return {
    message: `${refused}, and web.whatsapp.com offers no newer one.`,
    action: "The gateway looks again every day. Update Waygate if this lasts.",
  };
}
