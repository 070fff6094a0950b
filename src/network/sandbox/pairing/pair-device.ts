import { createHash, randomBytes, randomInt } from "node:crypto";
import type { Pool } from "pg";
import type { NetworkEvent } from "../../driver.ts";
import type { SandboxTiming } from "../sandbox-timing.ts";

export interface SandboxPairingOptions {
  pool: Pool;
  host: number;
  account_id: number;
  timing: SandboxTiming;
  /** Digits; requests a pairing code instead of QRs. */
  phone?: string;
  report(event: NetworkEvent): Promise<void>;
  /** Resolves after a scan, after the given time, or when the session stops. */
  waitForScan(pairing: string, ms: number): Promise<void>;
  isStopped(): boolean;
}

/**
 * Shows QRs, or one pairing code, until a phone scans; returns the new pairing's token, or undefined without
 * a scan.
 */
export async function pairDevice(options: SandboxPairingOptions): Promise<string | undefined> {
  if (options.phone !== undefined) return pairByCode(options, options.phone);
  const { timing } = options;
  for (let attempt = 1; attempt <= timing.qrAttempts && !options.isStopped(); attempt++) {
    const lifetimeMs = attempt === 1 ? timing.firstQrMs : timing.laterQrMs;
    const token = await showPairing(options, { lifetimeMs }, (id, expires_at) => ({
      type: "qr",
      qr: qrOf(id),
      expires_at,
      attempt,
      max_attempts: timing.qrAttempts,
      reason: "new",
    }));
    if (token !== undefined) return token;
  }
  return undefined;
}

function pairByCode(options: SandboxPairingOptions, phone: string): Promise<string | undefined> {
  const code = newCode();
  return showPairing(
    options,
    { lifetimeMs: options.timing.pairingCodeMs, code, phone },
    (_id, expires_at) => ({
      type: "pairing_code",
      code,
      expires_at,
    }),
  );
}

interface ShownPairing {
  lifetimeMs: number;
  code?: string;
  phone?: string;
}

async function showPairing(
  { pool, host, account_id, report, waitForScan }: SandboxPairingOptions,
  { lifetimeMs, code, phone }: ShownPairing,
  event: (id: string, expires_at: Date) => NetworkEvent,
): Promise<string | undefined> {
  const id = randomBytes(24).toString("base64url");
  const token = randomBytes(32).toString("base64url");
  await pool.query(
    `insert into sandbox.pairing (id, host, account_id, code, phone, expires_at, token)
     values ($1, $2, $3, $4, $5, now() + $6 * interval '1 millisecond', $7)`,
    [id, host, account_id, code ?? null, phone ?? null, lifetimeMs, tokenDigest(token)],
  );
  await report(event(id, new Date(Date.now() + lifetimeMs)));
  await waitForScan(id, lifetimeMs);
  const { rows } = await pool.query<{ is_scanned: boolean }>(
    "delete from sandbox.pairing where id = $1 returning device is not null as is_scanned",
    [id],
  );
  return rows[0]?.is_scanned ? token : undefined;
}

/** The digest of a token, which the network stores in its place. */
export function tokenDigest(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** Returns those of these pairings that were scanned. */
export async function findScanned(pool: Pool, pairings: string[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    "select id from sandbox.pairing where id = any ($1) and device is not null",
    [pairings],
  );
  return rows.map((row) => row.id);
}

const QR_PREFIX = "sandbox@";

function qrOf(pairing: string): string {
  return `${QR_PREFIX}${pairing}`;
}

/** The pairing that a scanned QR names; a bare id is accepted too. */
export function pairingIdOf(qr: string): string {
  return qr.startsWith(QR_PREFIX) ? qr.slice(QR_PREFIX.length) : qr;
}

const CODE_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTVWXYZ";

function newCode(): string {
  return Array.from({ length: 8 }, () => CODE_ALPHABET[randomInt(CODE_ALPHABET.length)]).join("");
}

const TOKEN_PREFIX = "sandbox:";

/** The credentials that the gateway stores for a pairing. */
export function credentialsOf(token: string): Uint8Array {
  return new TextEncoder().encode(`${TOKEN_PREFIX}${token}`);
}

/** The token in stored credentials; if they belong to another network, a token that no pairing has. */
export function tokenOf(credentials: Uint8Array): string {
  const text = new TextDecoder().decode(credentials);
  return text.startsWith(TOKEN_PREFIX) ? text.slice(TOKEN_PREFIX.length) : "";
}
