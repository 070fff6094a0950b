import { WA_CERT_DETAILS } from "baileys";
import { isLoopback } from "../media-hosts.ts";

/** Replaces the root (hex) of the network's certificates; for test servers on this machine only. */
export function trustRootKey(url: string, rootKey: string): void {
  if (!isLoopback(new URL(url))) return;
  WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(rootKey, "hex");
}
