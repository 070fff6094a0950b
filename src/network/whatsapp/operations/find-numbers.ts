import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren, proto, type WASocket } from "baileys";
import type { Jid } from "../../driver.ts";
import { plainJid, userOf } from "../stanzas/plain-jid.ts";
import { toOperationError } from "./operation-error.ts";

export interface RegisteredNumber {
  jid: Jid;
  lid: Jid | null;
  verifiedName: string | null;
}

/**
 * Finds the owners of these numbers (digits), by the number as requested, with one query for all. Stores their LIDs.
 */
export async function findNumbers(
  sock: WASocket,
  numbers: readonly string[],
): Promise<Map<string, RegisteredNumber>> {
  const response: BinaryNode | undefined = await sock.query(queryOf(sock, new Set(numbers)));
  const usync = getBinaryNodeChild(response, "usync");
  throwRefusal(getBinaryNodeChild(usync, "result"));
  const found = new Map<string, RegisteredNumber>();
  for (const user of getBinaryNodeChildren(getBinaryNodeChild(usync, "list"), "user")) {
    const contact = getBinaryNodeChild(user, "contact");
    const jid = plainJid(user.attrs.jid);
    if (!jid || contact?.attrs.type !== "in") continue;
    // The response contains the number as requested, and the actual address.
    const requested = textOf(contact).replace(/\D/g, "") || userOf(jid);
    const lid = plainJid(getBinaryNodeChild(user, "lid")?.attrs.val) ?? null;
    found.set(requested, { jid, lid, verifiedName: verifiedNameOf(user) });
  }
  const pairs = [...found.values()].flatMap(({ jid, lid }) => (lid ? [{ pn: jid, lid }] : []));
  await sock.signalRepository.lidMapping.storeLIDPNMappings(pairs);
  return found;
}

function queryOf(sock: WASocket, numbers: ReadonlySet<string>): BinaryNode {
  const users = [...numbers].map((number) => node("user", {}, [node("contact", {}, `+${number}`)]));
  const fields = [node("business", {}, [node("verified_name")]), node("contact"), node("lid")];
  const attrs = { context: "interactive", mode: "query", sid: sock.generateMessageTag() };
  return node("iq", { to: "s.whatsapp.net", type: "get", xmlns: "usync" }, [
    node("usync", { ...attrs, last: "true", index: "0" }, [
      node("query", {}, fields),
      node("list", {}, users),
    ]),
  ]);
}

/** Part of the query may be rejected although the response as a whole is not an error. */
function throwRefusal(result: BinaryNode | undefined): void {
  for (const part of Array.isArray(result?.content) ? result.content : []) {
    const { code, text = "", backoff } = getBinaryNodeChild(part, "error")?.attrs ?? {};
    const refused =
      code === undefined ? undefined : toOperationError(Number(code), text, Number(backoff) || undefined);
    if (refused) throw refused;
  }
}

function verifiedNameOf(user: BinaryNode): string | null {
  const certificate = getBinaryNodeChild(getBinaryNodeChild(user, "business"), "verified_name")?.content;
  if (!(certificate instanceof Uint8Array)) return null;
  const { details } = proto.VerifiedNameCertificate.decode(certificate);
  return (details && proto.VerifiedNameCertificate.Details.decode(details).verifiedName) || null;
}

function textOf({ content }: BinaryNode): string {
  return content instanceof Uint8Array || typeof content === "string" ? Buffer.from(content).toString() : "";
}

function node(tag: string, attrs: BinaryNode["attrs"] = {}, content?: BinaryNode["content"]): BinaryNode {
  return { tag, attrs, ...(content !== undefined && { content }) };
}
