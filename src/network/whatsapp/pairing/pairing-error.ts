import type { PairingError, PairingErrorCode } from "../../driver.ts";
import { QueryRejectedError } from "./registration-stream.ts";

/** What happened, and what the user can do. */
const TEXTS: Readonly<Record<PairingErrorCode, { message: string; action: string }>> = {
  qr_expired: {
    message: "No phone completed the link while the QR codes were shown.",
    action:
      "Connect again and scan the code that is shown then. If the phone says that it could not link the device, remove a device under Linked devices, or wait an hour and try again.",
  },
  code_expired: {
    message: "The pairing code was not entered on the phone within its 180 seconds.",
    action: "Connect again with the same number and enter the new code at once.",
  },
  code_withdrawn: {
    message: "WhatsApp has withdrawn the pairing code.",
    action: "Connect again to get a new code, or link by QR.",
  },
  wrong_code: {
    message: "The code that was entered on the phone is not the one that was shown, or was too old.",
    action: "Enter the code that is shown now. If none is shown, connect again.",
  },
  number_refused: {
    message: "WhatsApp does not accept this number for a pairing code.",
    action:
      "Check country code and area code, for example 5511999990004, and that WhatsApp on this phone has this number. Otherwise link by QR.",
  },
  code_forbidden: {
    message: "WhatsApp does not allow this number to link by a pairing code.",
    action: "Link by QR instead.",
  },
  rate_limited: {
    message:
      "WhatsApp accepts no more pairing codes or connections for some time, because too many were requested.",
    action:
      "Wait until `retry_at`, or link by QR if it was a code. Requests in the meantime make the wait longer.",
  },
  pairing_unavailable: {
    message: "WhatsApp did not give a pairing code.",
    action: "Try again in a few minutes, or link by QR.",
  },
  link_not_completed: {
    message:
      "The phone accepted the code but did not complete the link: the code was mistyped, or the phone has reached its limit of linked devices.",
    action:
      "Look at the phone. If it calls the code wrong, enter it again; otherwise remove a device under Linked devices. Connect again when no code is shown.",
  },
  phone_refused: {
    message: "The phone used a QR code or a pairing code that is no longer valid, so the link was refused.",
    action: "Scan or enter the code that is shown now. If none is shown, connect again.",
  },
  not_stored: {
    message: "The phone agreed, but the gateway could not store the link in its database.",
    action:
      "If the phone lists the device under Linked devices, remove it there. Connect again once the database works; `/health` shows whether it does.",
  },
  passkey_expired: {
    message: "The passkey confirmation did not arrive while WhatsApp waited for it.",
    action: "Connect again, scan the new code, and sign the challenge at once.",
  },
  passkey_no_answer: {
    message:
      "The passkey was accepted, but the phone did not link. It may have reached its limit of linked devices, or WhatsApp limits new links for some hours.",
    action:
      "On the phone, remove a device under Linked devices, then connect again. If that does not help, wait a day.",
  },
  passkey_not_confirmed: {
    message: "The confirmation that the phone shows the same code did not arrive in time.",
    action: "Connect again, and confirm when the two codes are the same.",
  },
  passkey_failed: {
    message: "WhatsApp or the phone aborted the confirmation with the passkey.",
    action: "Connect again and start from the beginning. If it happens again, update Waygate.",
  },
  passkey_cancelled: {
    message: "The confirmation with the passkey was cancelled.",
    action: "Connect again to link.",
  },
  passkey_interrupted: {
    message: "The connection ended while WhatsApp waited for the passkey.",
    action: "Connect again, scan the new code, and sign the challenge at once.",
  },
  client_outdated: {
    message: "WhatsApp no longer accepts this version of its web client.",
    action: "Update Waygate, or set WAYGATE_WHATSAPP_VERSION to the current version and restart.",
  },
  connection_failed: {
    message: "WhatsApp could not be reached, or ended the connection before a phone was linked.",
    action:
      "Check the network and the proxy (of the instance, else WAYGATE_EGRESS_PROXY), then connect again.",
  },
};

export const PAIRING_ERROR_CODES = Object.keys(TEXTS) as PairingErrorCode[];

export function pairingError(code: PairingErrorCode, retryAt?: Date): PairingError {
  return { code, ...TEXTS[code], ...(retryAt && { retry_at: retryAt }) };
}

/** The error of a pairing whose connections end. `limitMs`: the delay that a limit of WhatsApp asks for. */
export function connectionError(limitMs: number | undefined): PairingError {
  if (limitMs === undefined) return pairingError("connection_failed");
  return pairingError("rate_limited", new Date(Date.now() + limitMs));
}

/** WhatsApp names no time; reports range from a few hours to a day. */
const RATE_LIMIT_MS = 4 * 3_600_000;

/** Why WhatsApp rejected a code, from the error in its response. */
export function helloError(error: unknown): PairingError {
  if (!(error instanceof QueryRejectedError)) return pairingError("pairing_unavailable");
  const { code, text } = error;
  if (code === 429 || text === "rate-overlimit") {
    return pairingError("rate_limited", new Date(Date.now() + RATE_LIMIT_MS));
  }
  if (code === 403) return pairingError("code_forbidden");
  if (code === 400 || code === 404 || text === "feature-not-available") return pairingError("number_refused");
  return code === 405 ? pairingError("client_outdated") : unavailable(error);
}

/** Why WhatsApp rejected the last step after an entry of the code. */
export function codeEntryError(error: QueryRejectedError): PairingError {
  return error.code === 400 || error.code === 404 ? pairingError("wrong_code") : unavailable(error);
}

/** Users can search for the error's number to learn what WhatsApp means. */
function unavailable({ code }: QueryRejectedError): PairingError {
  const error = pairingError("pairing_unavailable");
  return code === 0 ? error : { ...error, message: `WhatsApp refused the code with error ${code}.` };
}
