import { phoneJid } from "../../jid.ts";
import type { Label, LabelAssignment, LabelOperations } from "../../session-operations.ts";
import { type NetworkAction, type RunOperation, succeeded } from "../connection/network-action.ts";
import { chatNamed } from "./chat-operations.ts";

export function labelOperations(run: RunOperation): LabelOperations {
  const edit = (label: Label, is_deleted: boolean) =>
    run({ action: is_deleted ? "label_delete" : "label_save", target_id: label.id }, async (acting) => {
      await changeLabel(acting, label, is_deleted);
      return succeeded(null);
    });
  return {
    list: () => run({ action: "labels" }, async (acting) => succeeded(await findLabels(acting))),
    save: (label) => edit(label, false),
    delete: (label) => edit(label, true),
    assign: (assignment) =>
      run({ action: "label", chat: assignment.chat, target_id: assignment.label_id }, async (acting) => {
        await assignLabel(acting, assignment);
        return succeeded(null);
      }),
  };
}

/** The labels of a phone; its devices hear of every change, so nothing has to be reported again. */
async function findLabels({ client, account_id, actor }: NetworkAction): Promise<Label[]> {
  const { rows } = await client.query<Label>(
    `select id, name, color from sandbox.label
     where account_id = $1 and owner = $2 and name is not null order by id`,
    [account_id, actor.phone],
  );
  return rows;
}

/** Changes a label of a phone and notifies its devices, except the one that makes the change. */
export async function changeLabel(acting: NetworkAction, label: Label, is_deleted: boolean): Promise<void> {
  const { client, account_id, actor, device, deliver } = acting;
  if (is_deleted)
    await client.query("delete from sandbox.label where account_id = $1 and owner = $2 and id = $3", [
      account_id,
      actor.phone,
      label.id,
    ]);
  else
    await client.query(
      `insert into sandbox.label (account_id, owner, id, name, color) values ($1, $2, $3, $4, $5)
       on conflict (account_id, owner, id, chat, message_id) do update set name = excluded.name, color = excluded.color`,
      [account_id, actor.phone, label.id, label.name, label.color],
    );
  const body = { label, is_deleted };
  await deliver([actor.phone], phoneJid(actor.phone), { kind: "label", body }, { except: device });
}

/** Gives or takes a label, and notifies the devices of the phone except the one that does it. */
export async function assignLabel(acting: NetworkAction, assignment: LabelAssignment): Promise<void> {
  const { client, account_id, actor, device, deliver } = acting;
  const { label_id, message_id, labelled } = assignment;
  const chat = chatNamed(assignment.chat);
  const row = [account_id, actor.phone, label_id, chat, message_id ?? ""];
  if (labelled)
    await client.query(
      `insert into sandbox.label (account_id, owner, id, chat, message_id) values ($1, $2, $3, $4, $5)
       on conflict do nothing`,
      row,
    );
  else
    await client.query(
      `delete from sandbox.label
       where account_id = $1 and owner = $2 and id = $3 and chat = $4 and message_id = $5`,
      row,
    );
  const body = { ...assignment, chat };
  await deliver([actor.phone], phoneJid(actor.phone), { kind: "labelled", body }, { except: device });
}
