import type { Engine } from "../../engine/engine.ts";
import type { NetworkEvent } from "../../network/driver.ts";
import type { Db } from "../../platform/db/database.ts";
import { cleanFromNetwork } from "../../platform/text/clean-text.ts";
import type { Conversations } from "../contacts/contacts.ts";
import { recordEvents } from "../events/events.ts";
import type { GroupInstance } from "./save-groups.ts";

interface Deps {
  db: Db;
  engine: Pick<Engine, "wake">;
  conversations: Conversations;
  live: { get(instanceId: number): Promise<{ ignore_groups: boolean }> };
}

/** Records one event for each person who asks to join, unless the instance ignores groups. */
export async function recordJoinRequests(
  { db, engine, conversations, live }: Deps,
  { id: instance_id }: GroupInstance,
  { group: jid, at, who, method }: Extract<NetworkEvent, { type: "group_join_requested" }>,
): Promise<void> {
  if ((await live.get(instance_id)).ignore_groups) return;
  const people = await Promise.all(
    cleanFromNetwork(who).map((person) => conversations.identify(instance_id, person)),
  );
  const events = people.map((person) => {
    const data = { jid, person, method: cleanFromNetwork(method), at: at.toISOString() };
    return {
      event: "group.join_requested" as const,
      instance_id,
      chat: jid,
      tags: ["groups" as const],
      data,
    };
  });
  engine.wake(await db.transaction().execute((trx) => recordEvents(trx, events)));
}
