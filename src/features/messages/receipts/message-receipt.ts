import type { NetworkEvent } from "../../../network/driver.ts";

/** A receipt: the status of some messages of a chat, ours at the contact's end or theirs at this one. */
export type MessageReceipt = Omit<Extract<NetworkEvent, { type: "message_status" }>, "type"> & {
  instance_id: number;
};
