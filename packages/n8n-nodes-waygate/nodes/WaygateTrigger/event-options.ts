// Written by `npm run generate` from the contract.

/** The events that start a workflow. */
export const EVENT_OPTIONS = [
  {
    name: "call.received",
    value: "call.received",
    description: "Recorded when a person calls the instance"
  },
  {
    name: "campaign.completed",
    value: "campaign.completed",
    description: "Recorded when a campaign ends"
  },
  {
    name: "group.updated",
    value: "group.updated",
    description: "Recorded when a group of the instance changes"
  },
  {
    name: "instance.attention",
    value: "instance.attention",
    description: "Recorded when the network requires an action of a person; without it the session may end"
  },
  {
    name: "instance.connected",
    value: "instance.connected",
    description: "Recorded when the session of the instance opens"
  },
  {
    name: "instance.disconnected",
    value: "instance.disconnected",
    description: "Recorded when the session ends"
  },
  {
    name: "instance.logged_out",
    value: "instance.logged_out",
    description: "Recorded when the phone or the network unlinks the instance"
  },
  {
    name: "instance.pairing_failed",
    value: "instance.pairing_failed",
    description: "Recorded when an attempt to link a phone fails"
  },
  {
    name: "instance.passkey_confirmation",
    value: "instance.passkey_confirmation",
    description: "Recorded when a person must compare a code with the one on the phone"
  },
  {
    name: "instance.passkey_required",
    value: "instance.passkey_required",
    description: "Recorded when the network requires a passkey before it links the instance"
  },
  {
    name: "instance.qr",
    value: "instance.qr",
    description: "Recorded when a QR code waits to be scanned, and each time a new code replaces it"
  },
  {
    name: "instance.qr_expired",
    value: "instance.qr_expired",
    description: "Recorded when the last QR code of a pairing expires without a scan"
  },
  {
    name: "instance.reconnecting",
    value: "instance.reconnecting",
    description: "Recorded when the connection is lost and the gateway begins to restore it"
  },
  {
    name: "integration.paused",
    value: "integration.paused",
    description: "Recorded when an integration replies too often in a chat, because another bot most likely writes there"
  },
  {
    name: "media.ready",
    value: "media.ready",
    description: "Recorded when the file of a received message is stored and can be downloaded"
  },
  {
    name: "message.deleted",
    value: "message.deleted",
    description: "Recorded when a message is deleted for everyone"
  },
  {
    name: "message.delivered",
    value: "message.delivered",
    description: "Recorded when messages reach the phone of the recipient; in a group once per member"
  },
  {
    name: "message.edited",
    value: "message.edited",
    description: "Recorded when a message is edited"
  },
  {
    name: "message.failed",
    value: "message.failed",
    description: "Recorded when an async send ends without success; a sync send reports its failure in the response instead"
  },
  {
    name: "message.reaction",
    value: "message.reaction",
    description: "Recorded when a person reacts to a message, or removes the reaction"
  },
  {
    name: "message.read",
    value: "message.read",
    description: "Recorded when messages are read, by the other side or on the instance's own phone; in a group once per reader"
  },
  {
    name: "message.received",
    value: "message.received",
    description: "Recorded when a contact writes to the instance, in a chat or in a group"
  },
  {
    name: "message.sent",
    value: "message.sent",
    description: "Recorded when the network accepts a message of the instance, sent by the API, by a campaign, by an integration or on the phone"
  },
  {
    name: "webhook.failed",
    value: "webhook.failed",
    description: "Recorded when the gateway gives up a delivery, warns of a failing webhook, or switches a webhook off"
  },
  {
    name: "webhook.retrying",
    value: "webhook.retrying",
    description: "Recorded when a delivery attempt fails and the gateway will retry it"
  },
  {
    name: "webhook.sent",
    value: "webhook.sent",
    description: "Recorded when a delivery to a webhook succeeds"
  }
];
