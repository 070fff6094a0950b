import { describe } from "./client-message.ts";
import type { Companion } from "./companion.ts";
import type { ServerConnection } from "./connection.ts";
import { becomeActive } from "./login.ts";
import type { Network } from "./network.ts";
import { type BinaryNode, children, failure, result } from "./nodes.ts";
import { accountQueries } from "./query-account.ts";
import { encryptQuery } from "./query-encrypt.ts";
import { groupQuery } from "./query-groups.ts";
import { usyncQuery } from "./query-usync.ts";

export interface Query {
  network: Network;
  connection: ServerConnection;
  companion: Companion;
  iq: BinaryNode;
  /** The only child, mostly. */
  first: BinaryNode | undefined;
}

/** Undefined: not understood. */
export type QueryHandler = (query: Query) => BinaryNode | undefined | Promise<BinaryNode | undefined>;

const ANSWERS: Record<string, QueryHandler> = {
  encrypt: encryptQuery,
  usync: usyncQuery,
  passive: ({ iq }) => result(iq),
  "w:g2": groupQuery,
  "w:p": ({ iq }) => result(iq),
  ...accountQueries,
};

/** A client asks something; what is not understood is refused and written down. */
export async function handleQuery(
  network: Network,
  connection: ServerConnection,
  companion: Companion,
  iq: BinaryNode,
): Promise<void> {
  const { type, xmlns = "" } = iq.attrs;
  if (type === "result" || type === "error") return;
  const { phone } = companion.person;
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
