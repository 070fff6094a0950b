import type { InboundContent, MessageId, StatusContent } from "../../driver.ts";
import { phoneJid } from "../../jid.ts";
import type { StatusOperations } from "../../session-operations.ts";
import { type NetworkAction, type RunOperation, rejected, succeeded } from "../connection/network-action.ts";
import { behaviourOf, phoneOf, type SandboxPerson } from "../sandbox-numbers.ts";
import type { SandboxTiming } from "../sandbox-timing.ts";
import { storeMedia } from "../world/media-store.ts";

export function statusOperations(run: RunOperation, timing: SandboxTiming): StatusOperations {
  return {
    send: (content, audience, id) =>
      run({ action: "status", target_id: id }, async (acting) => {
        const phones = [...new Set(audience.flatMap((jid) => phoneOf(jid) ?? []))].filter(
          (phone) => phone !== acting.actor.phone && behaviourOf(phone, timing).rule !== "missing",
        );
        if (phones.length === 0) return rejected("SEND_FAILED", "Nobody of the audience is on the network.");
        await post(acting, content, phones, id);
        for (const phone of phones)
          if (behaviourOf(phone, timing).readMs !== undefined) await view(acting, phone, id);
        return succeeded(new Date());
      }),
  };
}

async function post(
  acting: NetworkAction,
  content: StatusContent,
  phones: string[],
  id: MessageId,
): Promise<void> {
  const { actor, deliver } = acting;
  const stored = await storeMedia(acting, `${actor.phone}/${id}`, content);
  await deliver(phones, phoneJid(actor.phone), storyEntry(actor, id, stored));
}

/** The story as the devices of its audience get it. */
export function storyEntry(by: SandboxPerson, id: MessageId, content: InboundContent) {
  return { kind: "story", body: { id, by, content } } as const;
}

/** Test numbers that read messages see stories at once, unless an instance has paired them. */
async function view(
  { client, account_id, actor, deliver }: NetworkAction,
  phone: string,
  id: MessageId,
): Promise<void> {
  const { rowCount } = await client.query(
    `select from sandbox.device
     where phone = $1 and account_id = $2 and linked_at is not null and unlinked_at is null limit 1`,
    [phone, account_id],
  );
  if (rowCount === 0)
    await deliver([actor.phone], phoneJid(phone), viewEntry({ phone, push_name: null }, [id]));
}

/** A view as the devices of the story's writer get it. */
export function viewEntry(by: SandboxPerson, ids: MessageId[]) {
  return { kind: "viewed", body: { ids, by } } as const;
}
