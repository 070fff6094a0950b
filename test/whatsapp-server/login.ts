import type { Companion } from "./companion.ts";
import { loginFailure, replaced, type ServerConnection } from "./connection.ts";
import { initialSync } from "./initial-sync.ts";
import type { Network } from "./network.ts";
import { node, SERVER, seconds } from "./protocol/nodes.ts";
import type { ClientHello } from "./protocol/noise.ts";

/** Logs in a linked device, whose Noise key must be that of its pairing. */
export function logIn(
  network: Network,
  connection: ServerConnection,
  { staticKey, payload }: ClientHello,
): void {
  const { faults, book } = network;
  const person = network.people.get(String(payload.username ?? ""));
  const companion = person?.companions.get(payload.device ?? 0);
  const { phone } = person ?? {};
  if (faults.take("login_silence", phone)) {
    connection.silent = true;
    return;
  }
  const ordered = faults.take("login", phone)?.reason;
  const refusal = ordered ?? (person?.banned ? 403 : undefined) ?? wrongKey(companion, staticKey);
  if (refusal !== undefined || !companion) {
    connection.end(loginFailure(refusal ?? 401), `login refused ${refusal ?? 401}`);
    return;
  }
  companion.connection?.end(replaced(), "replaced");
  book.loggedIn(connection.record, companion.person.phone, companion.number);
  connection.companion = companion;
  companion.connection = connection;
  companion.presence = "unavailable";
  companion.subscriptions.clear();
  connection.send(
    node("success", {
      t: seconds(),
      props: 27,
      location: "test",
      creation: seconds(),
      lid: companion.person.jid("lid", companion.number),
    }),
  );
}

const wrongKey = (companion: Companion | undefined, key: Buffer): number | undefined =>
  companion?.registration.noiseKey.equals(key) ? undefined : 401;

/** The client is ready: sends offline stanzas, then live ones. */
export async function becomeActive(
  network: Network,
  connection: ServerConnection,
  companion: Companion,
): Promise<void> {
  connection.send(
    node("ib", { from: SERVER }, [
      node("edge_routing", {}, [node("routing_info", {}, Buffer.from("080808", "hex"))]),
    ]),
  );
  connection.active = true;
  connection.record.ready_at = Date.now();
  const { faults } = network;
  const { phone } = companion.person;
  companion.announceWaiting({
    isWithheld: faults.take("queue_withheld", phone) !== undefined,
    isEndLost: faults.take("offline_end_lost", phone) !== undefined,
  });
  if (companion.known) return;
  companion.known = true;
  if (network.settings.initialSync) await initialSync(network, companion);
}
