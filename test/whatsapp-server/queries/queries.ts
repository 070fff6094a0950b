import { encodeBigEndian } from "baileys";
import { describe } from "../client-message.ts";
import type { Companion } from "../companion.ts";
import type { ServerConnection } from "../connection.ts";
import { becomeActive } from "../login.ts";
import type { Network } from "../network.ts";
import {
  type BinaryNode,
  bytes,
  child,
  childBytes,
  children,
  childrenNamed,
  childUint,
  failure,
  node,
  result,
} from "../protocol/nodes.ts";
import type { QueryHandler } from "../query.ts";
import { accountQueries } from "./query-account.ts";
import { groupQuery } from "./query-groups.ts";
import { usyncQuery } from "./query-usync.ts";

/** Prekeys: their number, uploads, and those of others. */
const encryptQuery: QueryHandler = async ({ network, companion, iq, first }) => {
  switch (first?.tag) {
    case "count":
      // With a count of 0 a client would create 812 prekeys, which takes most of a pairing.
      return result(iq, [node("count", { value: Math.max(1, companion.preKeys.size) })]);
    case "digest":
      return result(iq, [node("digest", {}, [node("hash", {}, Buffer.alloc(20))])]);
    case "key": {
      network.book.stanza(companion.person.phone, "iq:encrypt:key");
      const users = await Promise.all(children(first).map((user) => keysOf(network, user.attrs.jid ?? "")));
      return result(iq, [node("list", {}, users)]);
    }
    case "rotate": {
      companion.registration.signedPreKey = signedPreKey(child(first, "skey"));
      const isLost = network.faults.take("rotation_lost", companion.person.phone);
      return isLost ? new Promise<BinaryNode>(() => {}) : result(iq);
    }
    default:
      if (!child(iq, "list")) return undefined;
  }
  for (const key of childrenNamed(child(iq, "list"), "key")) {
    companion.preKeys.set(childUint(key, "id"), childBytes(key, "value"));
  }
  companion.registration.signedPreKey = signedPreKey(child(iq, "skey"));
  companion.registration.registrationId = childUint(iq, "registration");
  if (!bytes(child(iq, "identity")).equals(Buffer.from(companion.registration.identity))) return undefined;
  return result(iq);
};

const signedPreKey = (skey: BinaryNode | undefined) => ({
  id: childUint(skey, "id"),
  value: childBytes(skey, "value"),
  signature: childBytes(skey, "signature"),
});

const ANSWERS: Record<string, QueryHandler> = {
  encrypt: encryptQuery,
  usync: usyncQuery,
  passive: ({ iq }) => result(iq),
  "w:g2": groupQuery,
  "w:p": ({ iq }) => result(iq),
  ...accountQueries,
};

/** Handles a query. Unknown ones are refused and recorded. */
export async function handleQuery(
  network: Network,
  connection: ServerConnection,
  companion: Companion,
  iq: BinaryNode,
): Promise<void> {
  const { type, xmlns = "", id = "", to = "" } = iq.attrs;
  const { phone } = companion.person;
  if (type === "result" || type === "error")
    return network.book.ack({ phone, class: "iq", id, to, type, error: child(iq, "error")?.attrs.code });
  const fits = (fault: { xmlns: string }): boolean => fault.xmlns === xmlns;
  if (network.faults.take("iq_silence", phone, fits)) return;
  const error = network.faults.take("iq_error", phone, fits);
  if (error)
    return connection.send(
      failure(iq, error.code, error.code === 429 ? "rate-overlimit" : "ordered by the test"),
    );
  const first = children(iq)[0];
  const response = await ANSWERS[xmlns]?.({ network, connection, companion, iq, first });
  if (!response) network.book.unhandled.push(describe(iq));
  connection.send(response ?? failure(iq, 501, "feature-not-implemented"));
  if (xmlns === "passive" && first?.tag === "active") await becomeActive(network, connection, companion);
}

async function keysOf(network: Network, jid: string): Promise<BinaryNode> {
  const device = network.device(jid);
  if (!device) return node("user", { jid }, [node("error", { code: 404, text: "item-not-found" })]);
  const { person } = device;
  const isEmpty = network.faults.take("no_prekeys", undefined, ({ of }) =>
    [undefined, person.phone].includes(of),
  );
  if (isEmpty) return node("user", { jid }, [node("error", { code: 406, text: "not-acceptable" })]);
  const { registrationId, identity, signedPreKey, preKey } = await device.bundle();
  const isForged = network.faults.take("forged_prekeys", undefined, ({ of }) => of === person.phone);
  const signature = isForged ? Buffer.alloc(64, 1) : Buffer.from(signedPreKey.signature);
  const key = (tag: string, { id, value }: { id: number; value: Uint8Array }, more: BinaryNode[] = []) =>
    node(tag, {}, [
      node("id", {}, Buffer.from(encodeBigEndian(id, 3))),
      node("value", {}, Buffer.from(value)),
      ...more,
    ]);
  return node("user", { jid }, [
    node("registration", {}, Buffer.from(encodeBigEndian(registrationId))),
    node("type", {}, Buffer.from([5])),
    node("identity", {}, Buffer.from(identity)),
    key("skey", signedPreKey, [node("signature", {}, signature)]),
    ...(preKey ? [key("key", preKey)] : []),
  ]);
}
