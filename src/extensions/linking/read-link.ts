import { createHash } from "node:crypto";
import { getInstance, type InstanceRow, waitForInstance } from "../../core/instances/instances.ts";
import { connectInstance, type InstanceControlDeps, toPairingView } from "../../core/sessions/sessions.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { OutputOf } from "../../platform/http/route.ts";
import type { linkingContract } from "./contract.ts";
import type { OpenLink } from "./open-link.ts";
import { NO_PASSKEY, toPasskey } from "./passkey.ts";

export type LinkView = OutputOf<typeof linkingContract.readLink>;

const CHANGE_WAIT_MS = 20_000;

/** What the page shows; waits for a change while the view still has the version `since`. */
export async function readLink(
  { db, engine }: InstanceControlDeps,
  link: OpenLink,
  since: string | undefined,
  signal: AbortSignal,
): Promise<LinkView> {
  let view: LinkView | undefined;
  const leftMs = Math.max(0, link.expires_at.getTime() - Date.now());
  const ms = since === undefined ? 0 : Math.min(CHANGE_WAIT_MS, leftMs);
  await waitForInstance({ engine, ms, signal }, link.instance_id, async () => {
    view = await toView(await getInstance(db, link.instance_id), link);
    return view.version !== since;
  });
  return view ?? toView(await getInstance(db, link.instance_id), link);
}

/** Starts the pairing; throws CONFLICT once the instance is linked. */
export async function connectByLink(
  deps: InstanceControlDeps,
  link: OpenLink,
  phone: string | undefined,
  signal: AbortSignal,
): Promise<{ status: string }> {
  await requireUnlinked(deps, link);
  const { status } = await connectInstance(deps, link.instance_id, { phone, wait_seconds: 0, signal });
  return { status };
}

/** Throws CONFLICT once the instance is linked. */
export async function requireUnlinked(
  { db }: Pick<InstanceControlDeps, "db">,
  link: OpenLink,
): Promise<void> {
  if (!isLinked(await getInstance(db, link.instance_id), link)) return;
  throw new GatewayError("CONFLICT", "The phone is linked already, so this link is no longer needed.");
}

/** Whether the instance is connected, or was connected after the link was created. */
function isLinked({ status, connected_at }: InstanceRow, { created_at }: OpenLink): boolean {
  return status === "connected" || (connected_at !== null && connected_at > created_at);
}

async function toView(row: InstanceRow, link: OpenLink): Promise<LinkView> {
  const is_linked = isLinked(row, link);
  const view = is_linked ? LINKED : await toLinkingView(row);
  const shown = { name: row.name, status: row.status, is_linked, link_expires_at: link.expires_at, ...view };
  const version = createHash("sha256").update(JSON.stringify(shown)).digest("base64url");
  return { ...shown, version };
}

type LinkingView = Omit<LinkView, "name" | "status" | "is_linked" | "link_expires_at" | "version">;

/** Later changes, such as the QR of another pairing, do not belong to this link. */
const LINKED: LinkingView = {
  qr: null,
  attempt: null,
  max_attempts: null,
  is_refreshed: false,
  pairing_code: null,
  expires_at: null,
  passkey: NO_PASSKEY,
  error: null,
};

async function toLinkingView(row: InstanceRow): Promise<LinkingView> {
  const { qr, attempt, max_attempts, pairing_code, expires_at, qr_reason, pairing_error } =
    await toPairingView(row);
  return {
    qr,
    attempt,
    max_attempts,
    pairing_code,
    expires_at,
    passkey: toPasskey(row),
    is_refreshed: qr_reason === "refreshed",
    error: pairing_error && { message: pairing_error.message, action: pairing_error.action },
  };
}
