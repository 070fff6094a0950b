import type { NetworkEvent } from "../../../network/driver.ts";

/** The status of messages of a chat: ours on the contact's side, or the contact's on this side. */
export type MessageReceipt = Omit<Extract<NetworkEvent, { type: "message_status" }>, "type"> & {
  instance_id: number;
};
