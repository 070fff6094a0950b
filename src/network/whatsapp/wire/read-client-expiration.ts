import { type BinaryNode, getBinaryNodeChild } from "baileys";

const SECONDS = /^\d{1,10}$/;

/**
 * When the network intends to refuse the client version of the connection; null: it has withdrawn that. Undefined if
 * the node names no time, or none that can be read.
 */
export function readClientExpiration(node: BinaryNode): Date | null | undefined {
  const expiration = getBinaryNodeChild(node, "client_expiration");
  if (!expiration) return undefined;
  const { t } = expiration.attrs;
  if (t === undefined) return null;
  return SECONDS.test(t) ? new Date(Number(t) * 1000) : undefined;
}
