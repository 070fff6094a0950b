import type { contract } from "../../src/contract.ts";

/** One operation of the n8n node. What the contract cannot say is here; all else comes from its route. */
export interface N8nOperation {
  route: keyof typeof contract;
  /** As the list of operations shows it. */
  name: string;
  /** As the search for nodes shows it. */
  action: string;
  /** Instead of the route's summary. */
  description?: string;
  /** Optional fields of the route that the node shows like required ones; with `!` the node requires them. */
  shown?: readonly string[];
  /** Fields whose empty text has a meaning of its own, so that the node sends it. */
  emptied?: readonly string[];
  /** Fields that the node leaves out, because another one does the same. */
  hidden?: readonly string[];
}

export interface N8nResource {
  name: string;
  operations: Readonly<Record<string, N8nOperation>>;
}

/** The sends have three names for the recipient, and four for `async`. */
const SEND = ["phone", "jid", "async_send", "send_async", "mode"];
const RECIPIENT = ["phone", "jid"];
/** View-once files are not supported yet. */
const MEDIA = ["view_once"];

const to = ["number!"];

/** The operations of the n8n node, as users look for them. */
export const N8N_RESOURCES: Readonly<Record<string, N8nResource>> = {
  chat: {
    name: "Chat",
    operations: {
      getAll: { route: "listChats", name: "Get Many", action: "Get many chats" },
      getMessages: { route: "listChatMessages", name: "Get Messages", action: "Get messages of a chat" },
      setPresence: {
        route: "setPresence",
        name: "Set Presence",
        action: "Set the presence in a chat",
        shown: ["number"],
        hidden: RECIPIENT,
      },
      setState: {
        route: "setChatState",
        name: "Set State",
        action: "Archive mute pin or mark a chat",
        shown: [...to, "action!"],
        hidden: [
          ...RECIPIENT,
          "state",
          "archive",
          "unarchive",
          "mute",
          "unmute",
          "pin",
          "unpin",
          "read",
          "unread",
        ],
      },
    },
  },
  contact: {
    name: "Contact",
    operations: {
      block: {
        route: "blockContact",
        name: "Block or Unblock",
        action: "Block or unblock a contact",
        shown: [...to, "action!"],
        hidden: [...RECIPIENT, "block"],
      },
      check: {
        route: "checkContacts",
        name: "Check Numbers",
        action: "Check whether numbers are on the network",
        shown: ["numbers!"],
        hidden: ["number"],
      },
      get: { route: "contactInfo", name: "Get", action: "Get a contact", shown: to, hidden: RECIPIENT },
      getAll: { route: "listContacts", name: "Get Many", action: "Get many contacts" },
    },
  },
  event: {
    name: "Event",
    operations: {
      get: { route: "getEvent", name: "Get", action: "Get an event" },
      getAll: { route: "listEvents", name: "Get Many", action: "Get many events" },
      retry: { route: "retryEvent", name: "Send Again", action: "Send an event again" },
    },
  },
  group: {
    name: "Group",
    operations: {
      create: { route: "createGroup", name: "Create", action: "Create a group" },
      get: { route: "getGroup", name: "Get", action: "Get a group" },
      getAll: { route: "listGroups", name: "Get Many", action: "Get many groups" },
      getInvite: { route: "getGroupInvite", name: "Get Invitation", action: "Get the invitation of a group" },
      join: { route: "joinGroup", name: "Join", action: "Join a group" },
      leave: { route: "leaveGroup", name: "Leave", action: "Leave a group" },
      updateParticipants: {
        route: "updateGroupParticipants",
        name: "Update Participants",
        action: "Add remove promote or demote participants",
      },
      updateSettings: {
        route: "updateGroupSettings",
        name: "Update Settings",
        action: "Update the settings of a group",
        emptied: ["description"],
      },
    },
  },
  instance: {
    name: "Instance",
    operations: {
      connect: { route: "connectInstance", name: "Connect", action: "Connect the instance" },
      get: { route: "getInstance", name: "Get", action: "Get the instance" },
      getQr: { route: "getInstanceQr", name: "Get QR Code", action: "Get the QR code", shown: ["format"] },
      getStatus: { route: "getInstanceStatus", name: "Get Status", action: "Get the status of the instance" },
      logout: { route: "logoutInstance", name: "Log Out", action: "Unlink the instance from the phone" },
      reconnect: { route: "reconnectInstance", name: "Reconnect", action: "Reconnect the instance" },
    },
  },
  message: {
    name: "Message",
    operations: {
      delete: {
        route: "deleteMessage",
        name: "Delete",
        action: "Delete a message for everyone",
        shown: to,
        hidden: RECIPIENT,
      },
      downloadFile: {
        route: "downloadMedia",
        name: "Download File",
        action: "Download the file of a message",
        description: "Get the file of a message as binary data",
        hidden: ["return_base64"],
      },
      edit: {
        route: "editMessage",
        name: "Edit",
        action: "Edit a message",
        shown: to,
        hidden: RECIPIENT,
      },
      get: { route: "getMessage", name: "Get", action: "Get a message" },
      getAll: { route: "listMessages", name: "Get Many", action: "Get many messages" },
      getReceipts: {
        route: "getMessageReceipts",
        name: "Get Receipts",
        action: "Get the receipts of a message to a group",
      },
      markRead: {
        route: "markRead",
        name: "Mark as Read",
        action: "Mark messages as read",
        shown: [...to, "message_ids!"],
        hidden: [...RECIPIENT, "message_id"],
      },
      react: {
        route: "react",
        name: "React",
        action: "React to a message",
        shown: to,
        hidden: RECIPIENT,
        emptied: ["reaction"],
      },
      sendReply: {
        route: "sendReply",
        name: "Reply",
        action: "Reply to a message",
        shown: to,
        hidden: [...SEND, "reply_to"],
      },
      sendContact: {
        route: "sendContact",
        name: "Send Contact",
        action: "Send a contact card",
        shown: [...to, "contact"],
        hidden: [...SEND, "name"],
      },
      sendLocation: {
        route: "sendLocation",
        name: "Send Location",
        action: "Send a location",
        shown: to,
        hidden: SEND,
      },
      sendMedia: {
        route: "sendMedia",
        name: "Send Media",
        action: "Send an image video audio or document",
        shown: [...to, "caption"],
        hidden: [...SEND, ...MEDIA],
      },
      sendText: {
        route: "sendText",
        name: "Send Text",
        action: "Send a text",
        shown: [...to, "text"],
        hidden: SEND,
      },
    },
  },
  profile: {
    name: "Profile",
    operations: {
      get: { route: "getProfile", name: "Get", action: "Get the profile" },
      setName: { route: "setProfileName", name: "Set Name", action: "Set the name of the profile" },
      setPhoto: { route: "setProfilePhoto", name: "Set Photo", action: "Set the photo of the profile" },
      setStatus: {
        route: "setProfileStatus",
        name: "Set Status Text",
        action: "Set the status text of the profile",
        emptied: ["text"],
      },
    },
  },
  webhook: {
    name: "Webhook",
    operations: {
      delete: { route: "deleteWebhook", name: "Delete", action: "Delete a webhook" },
      getAll: { route: "listWebhooks", name: "Get Many", action: "Get many webhooks" },
      getLogs: { route: "listDeliveryLogs", name: "Get Delivery Logs", action: "Get delivery logs" },
      recover: {
        route: "recoverWebhook",
        name: "Send Failed Events Again",
        action: "Send failed events again",
      },
      retryLog: {
        route: "retryDeliveryLog",
        name: "Send Logged Event Again",
        action: "Send the event of a delivery log again",
      },
      test: { route: "testWebhook", name: "Test", action: "Test a webhook" },
    },
  },
};
