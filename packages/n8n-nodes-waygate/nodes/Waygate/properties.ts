// Written by `npm run generate` from the contract.

/** The parameters of the node. */
export const PROPERTIES = [
  {
    displayName: "Resource",
    name: "resource",
    type: "options",
    noDataExpression: true,
    options: [
      {
        name: "Chat",
        value: "chat"
      },
      {
        name: "Contact",
        value: "contact"
      },
      {
        name: "Event",
        value: "event"
      },
      {
        name: "Group",
        value: "group"
      },
      {
        name: "Instance",
        value: "instance"
      },
      {
        name: "Message",
        value: "message"
      },
      {
        name: "Profile",
        value: "profile"
      },
      {
        name: "Webhook",
        value: "webhook"
      }
    ],
    default: "message"
  },
  {
    displayName: "Operation",
    name: "operation",
    type: "options",
    noDataExpression: true,
    displayOptions: {
      show: {
        resource: [
          "chat"
        ]
      }
    },
    options: [
      {
        name: "Get Many",
        value: "getAll",
        action: "Get many chats",
        description: "List conversations with their last message and unread count, the newest first"
      },
      {
        name: "Get Messages",
        value: "getMessages",
        action: "Get messages of a chat",
        description: "List the messages of a chat, newest first"
      },
      {
        name: "Set Presence",
        value: "setPresence",
        action: "Set the presence in a chat",
        description: "Set the presence: available or unavailable, or in a chat typing, recording or paused"
      },
      {
        name: "Set State",
        value: "setState",
        action: "Archive mute pin or mark a chat",
        description: "Archive, mute, pin or mark a chat as read on the phone, or undo it"
      }
    ],
    default: "getAll"
  },
  {
    displayName: "Return All",
    name: "returnAll",
    type: "boolean",
    default: false,
    description: "Whether to return all results or only up to a given limit",
    displayOptions: {
      show: {
        resource: [
          "chat"
        ],
        operation: [
          "getAll",
          "getMessages"
        ]
      }
    }
  },
  {
    displayName: "Limit",
    name: "limit",
    type: "number",
    typeOptions: {
      minValue: 1
    },
    default: 50,
    description: "Max number of results to return",
    displayOptions: {
      show: {
        resource: [
          "chat"
        ],
        operation: [
          "getAll",
          "getMessages"
        ],
        returnAll: [
          false
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Archived",
        name: "archived",
        type: "boolean",
        default: false,
        description: "Whether to return archived chats instead of the others"
      },
      {
        displayName: "Chat",
        name: "chat",
        type: "string",
        default: "",
        placeholder: "5511999990004",
        description: "Only this chat, a JID, a LID or a number, with the other filters ignored"
      },
      {
        displayName: "Pinned",
        name: "pinned",
        type: "boolean",
        default: false,
        description: "Whether to return only pinned chats; off returns the others"
      },
      {
        displayName: "Search",
        name: "q",
        type: "string",
        default: "",
        description: "Part of the title or of the digits of the phone"
      },
      {
        displayName: "Type",
        name: "type",
        type: "options",
        options: [
          {
            name: "Contact",
            value: "contact"
          },
          {
            name: "Group",
            value: "group"
          }
        ],
        default: "contact"
      },
      {
        displayName: "Unread",
        name: "unread",
        type: "boolean",
        default: false,
        description: "Whether to return only chats with unread messages; off returns the others"
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "chat"
        ],
        operation: [
          "getAll"
        ]
      }
    }
  },
  {
    displayName: "Chat or Group JID",
    name: "jid",
    type: "string",
    required: true,
    default: "",
    description: "JID of the chat or group; for a chat also the phone number",
    displayOptions: {
      show: {
        resource: [
          "chat"
        ],
        operation: [
          "getMessages"
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Direction",
        name: "direction",
        type: "options",
        options: [
          {
            name: "Inbound",
            value: "inbound"
          },
          {
            name: "Outbound",
            value: "outbound"
          }
        ],
        default: "inbound"
      },
      {
        displayName: "From Time",
        name: "from",
        type: "string",
        default: "",
        placeholder: "2026-01-31T12:00:00Z",
        description: "Only messages at or after this time (ISO 8601)"
      },
      {
        displayName: "Search",
        name: "q",
        type: "string",
        default: "",
        description: "Words of the message, in any order. Case and accents do not matter, and each word also matches longer words that begin with it."
      },
      {
        displayName: "Status",
        name: "status",
        type: "options",
        options: [
          {
            name: "Cancelled",
            value: "cancelled"
          },
          {
            name: "Delivered",
            value: "delivered"
          },
          {
            name: "Failed",
            value: "failed"
          },
          {
            name: "Pending",
            value: "pending"
          },
          {
            name: "Played",
            value: "played"
          },
          {
            name: "Read",
            value: "read"
          },
          {
            name: "Received",
            value: "received"
          },
          {
            name: "Sent",
            value: "sent"
          }
        ],
        default: "pending"
      },
      {
        displayName: "Track ID",
        name: "track_id",
        type: "string",
        default: "",
        description: "Only messages that were sent with this track_id"
      },
      {
        displayName: "Type",
        name: "type",
        type: "options",
        options: [
          {
            name: "Audio",
            value: "audio"
          },
          {
            name: "Contact",
            value: "contact"
          },
          {
            name: "Document",
            value: "document"
          },
          {
            name: "Image",
            value: "image"
          },
          {
            name: "Location",
            value: "location"
          },
          {
            name: "Sticker",
            value: "sticker"
          },
          {
            name: "Text",
            value: "text"
          },
          {
            name: "Unreadable",
            value: "unreadable"
          },
          {
            name: "Video",
            value: "video"
          },
          {
            name: "Voice Note",
            value: "ptt"
          }
        ],
        default: "text"
      },
      {
        displayName: "Until Time",
        name: "until",
        type: "string",
        default: "",
        placeholder: "2026-01-31T12:00:00Z",
        description: "Only messages before this time (ISO 8601)"
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "chat"
        ],
        operation: [
          "getMessages"
        ]
      }
    }
  },
  {
    displayName: "To",
    name: "number",
    type: "string",
    default: "",
    description: "Phone number with country and area code, or the JID of a chat or group",
    placeholder: "5511999990004",
    displayOptions: {
      show: {
        resource: [
          "chat"
        ],
        operation: [
          "setPresence"
        ]
      }
    }
  },
  {
    displayName: "Presence",
    name: "presence",
    type: "options",
    required: true,
    options: [
      {
        name: "Available",
        value: "available"
      },
      {
        name: "Composing",
        value: "composing"
      },
      {
        name: "Paused",
        value: "paused"
      },
      {
        name: "Recording",
        value: "recording"
      },
      {
        name: "Recording Audio",
        value: "recording_audio"
      },
      {
        name: "Typing",
        value: "typing"
      },
      {
        name: "Unavailable",
        value: "unavailable"
      }
    ],
    default: "available",
    displayOptions: {
      show: {
        resource: [
          "chat"
        ],
        operation: [
          "setPresence"
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Duration (Milliseconds)",
        name: "duration_ms",
        type: "number",
        typeOptions: {
          minValue: 0,
          maxValue: 60000
        },
        default: 0,
        description: "After this time the presence becomes paused"
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "chat"
        ],
        operation: [
          "setPresence"
        ]
      }
    }
  },
  {
    displayName: "To",
    name: "number",
    type: "string",
    required: true,
    default: "",
    description: "Phone number with country and area code, or the JID of a chat or group",
    placeholder: "5511999990004",
    displayOptions: {
      show: {
        resource: [
          "chat"
        ],
        operation: [
          "setState"
        ]
      }
    }
  },
  {
    displayName: "Action",
    name: "task",
    type: "options",
    required: true,
    options: [
      {
        name: "Archive",
        value: "archive"
      },
      {
        name: "Mute",
        value: "mute"
      },
      {
        name: "Pin",
        value: "pin"
      },
      {
        name: "Read",
        value: "read"
      },
      {
        name: "Unarchive",
        value: "unarchive"
      },
      {
        name: "Unmute",
        value: "unmute"
      },
      {
        name: "Unpin",
        value: "unpin"
      },
      {
        name: "Unread",
        value: "unread"
      }
    ],
    default: "archive",
    description: "What to do",
    displayOptions: {
      show: {
        resource: [
          "chat"
        ],
        operation: [
          "setState"
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Duration (Seconds)",
        name: "duration_seconds",
        type: "number",
        typeOptions: {
          minValue: 1,
          maxValue: 315360000
        },
        default: 1,
        description: "How long the chat is muted. Default: one year."
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "chat"
        ],
        operation: [
          "setState"
        ]
      }
    }
  },
  {
    displayName: "Operation",
    name: "operation",
    type: "options",
    noDataExpression: true,
    displayOptions: {
      show: {
        resource: [
          "contact"
        ]
      }
    },
    options: [
      {
        name: "Block or Unblock",
        value: "block",
        action: "Block or unblock a contact",
        description: "Block or unblock a contact"
      },
      {
        name: "Check Numbers",
        value: "check",
        action: "Check whether numbers are on the network",
        description: "Check whether numbers are on the network"
      },
      {
        name: "Get",
        value: "get",
        action: "Get a contact",
        description: "Read name, picture, about and business data of a contact from the network"
      },
      {
        name: "Get Many",
        value: "getAll",
        action: "Get many contacts",
        description: "List known contacts, the newest first"
      }
    ],
    default: "block"
  },
  {
    displayName: "To",
    name: "number",
    type: "string",
    required: true,
    default: "",
    description: "Phone number with country and area code, or the JID of a chat or group",
    placeholder: "5511999990004",
    displayOptions: {
      show: {
        resource: [
          "contact"
        ],
        operation: [
          "block",
          "get"
        ]
      }
    }
  },
  {
    displayName: "Action",
    name: "task",
    type: "options",
    required: true,
    options: [
      {
        name: "Block",
        value: "block"
      },
      {
        name: "Unblock",
        value: "unblock"
      }
    ],
    default: "block",
    description: "What to do",
    displayOptions: {
      show: {
        resource: [
          "contact"
        ],
        operation: [
          "block"
        ]
      }
    }
  },
  {
    displayName: "Numbers",
    name: "numbers",
    type: "string",
    required: true,
    default: "",
    description: "Phone numbers with country and area code, separated by commas",
    placeholder: "5511999990004, 5511999990005",
    displayOptions: {
      show: {
        resource: [
          "contact"
        ],
        operation: [
          "check"
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Refresh",
        name: "refresh",
        type: "boolean",
        default: false,
        description: "Whether to ask the network instead of returning what the gateway knows"
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "contact"
        ],
        operation: [
          "check"
        ]
      }
    }
  },
  {
    displayName: "Return All",
    name: "returnAll",
    type: "boolean",
    default: false,
    description: "Whether to return all results or only up to a given limit",
    displayOptions: {
      show: {
        resource: [
          "contact"
        ],
        operation: [
          "getAll"
        ]
      }
    }
  },
  {
    displayName: "Limit",
    name: "limit",
    type: "number",
    typeOptions: {
      minValue: 1
    },
    default: 50,
    description: "Max number of results to return",
    displayOptions: {
      show: {
        resource: [
          "contact"
        ],
        operation: [
          "getAll"
        ],
        returnAll: [
          false
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Search",
        name: "q",
        type: "string",
        default: "",
        description: "Part of a name or of the digits of the phone"
      },
      {
        displayName: "Synchronise",
        name: "synchronise",
        type: "boolean",
        default: false,
        description: "Whether to ask the phone for its address book; its contacts arrive some seconds later"
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "contact"
        ],
        operation: [
          "getAll"
        ]
      }
    }
  },
  {
    displayName: "Operation",
    name: "operation",
    type: "options",
    noDataExpression: true,
    displayOptions: {
      show: {
        resource: [
          "event"
        ]
      }
    },
    options: [
      {
        name: "Get",
        value: "get",
        action: "Get an event",
        description: "Get one event with its payload"
      },
      {
        name: "Get Many",
        value: "getAll",
        action: "Get many events",
        description: "List recorded events, newest first"
      },
      {
        name: "Send Again",
        value: "retry",
        action: "Send an event again",
        description: "Send an event again to every active webhook that subscribes to it, or to one of them"
      }
    ],
    default: "get"
  },
  {
    displayName: "Event ID",
    name: "eventId",
    type: "string",
    required: true,
    default: "",
    placeholder: "evt_01M7VZ7A9ZBG8NWRNYBYXP4FZP",
    displayOptions: {
      show: {
        resource: [
          "event"
        ],
        operation: [
          "get",
          "retry"
        ]
      }
    }
  },
  {
    displayName: "Return All",
    name: "returnAll",
    type: "boolean",
    default: false,
    description: "Whether to return all results or only up to a given limit",
    displayOptions: {
      show: {
        resource: [
          "event"
        ],
        operation: [
          "getAll"
        ]
      }
    }
  },
  {
    displayName: "Limit",
    name: "limit",
    type: "number",
    typeOptions: {
      minValue: 1
    },
    default: 50,
    description: "Max number of results to return",
    displayOptions: {
      show: {
        resource: [
          "event"
        ],
        operation: [
          "getAll"
        ],
        returnAll: [
          false
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "After Sequence",
        name: "after",
        type: "number",
        typeOptions: {
          minValue: 0
        },
        default: 0,
        description: "Replay the events after this sequence"
      },
      {
        displayName: "Event",
        name: "event",
        type: "string",
        default: "",
        placeholder: "message.received"
      },
      {
        displayName: "From Time",
        name: "from",
        type: "string",
        default: "",
        placeholder: "2026-01-31T12:00:00Z",
        description: "Events recorded at or after this time"
      },
      {
        displayName: "Status",
        name: "status",
        type: "options",
        options: [
          {
            name: "Delivered",
            value: "delivered"
          },
          {
            name: "Discarded",
            value: "discarded"
          },
          {
            name: "Failed",
            value: "failed"
          },
          {
            name: "Parked",
            value: "parked"
          },
          {
            name: "Pending",
            value: "pending"
          },
          {
            name: "Retrying",
            value: "retrying"
          }
        ],
        default: "pending",
        description: "Events with a delivery in this state; with webhook_id a delivery to that webhook"
      },
      {
        displayName: "To Time",
        name: "to",
        type: "string",
        default: "",
        placeholder: "2026-01-31T12:00:00Z",
        description: "Events recorded before this time"
      },
      {
        displayName: "Webhook ID",
        name: "webhook_id",
        type: "number",
        default: 0
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "event"
        ],
        operation: [
          "getAll"
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Webhook ID",
        name: "webhook_id",
        type: "number",
        typeOptions: {
          minValue: 1
        },
        default: 0,
        description: "Only to this webhook, if it subscribes to the event"
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "event"
        ],
        operation: [
          "retry"
        ]
      }
    }
  },
  {
    displayName: "Operation",
    name: "operation",
    type: "options",
    noDataExpression: true,
    displayOptions: {
      show: {
        resource: [
          "group"
        ]
      }
    },
    options: [
      {
        name: "Create",
        value: "create",
        action: "Create a group",
        description: "Make a group"
      },
      {
        name: "Get",
        value: "get",
        action: "Get a group",
        description: "Get one group as it is known"
      },
      {
        name: "Get Invitation",
        value: "getInvite",
        action: "Get the invitation of a group",
        description: "Get the invitation link of a group"
      },
      {
        name: "Get Many",
        value: "getAll",
        action: "Get many groups",
        description: "List the groups that the instance is in, as they are known"
      },
      {
        name: "Join",
        value: "join",
        action: "Join a group",
        description: "Join a group by its invitation link or the code of it"
      },
      {
        name: "Leave",
        value: "leave",
        action: "Leave a group",
        description: "Leave a group"
      },
      {
        name: "Update Participants",
        value: "updateParticipants",
        action: "Add remove promote or demote participants",
        description: "Add, remove, promote or demote people"
      },
      {
        name: "Update Settings",
        value: "updateSettings",
        action: "Update the settings of a group",
        description: "Change name, description, image or permissions"
      }
    ],
    default: "create"
  },
  {
    displayName: "Name",
    name: "name",
    type: "string",
    required: true,
    default: "",
    displayOptions: {
      show: {
        resource: [
          "group"
        ],
        operation: [
          "create"
        ]
      }
    }
  },
  {
    displayName: "Participants",
    name: "participants",
    type: "string",
    required: true,
    default: "",
    description: "Phone numbers with country and area code, or JIDs, separated by commas",
    placeholder: "5511999990004, 5511999990005",
    displayOptions: {
      show: {
        resource: [
          "group"
        ],
        operation: [
          "create",
          "updateParticipants"
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Description",
        name: "description",
        type: "string",
        typeOptions: {
          rows: 4
        },
        default: ""
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "group"
        ],
        operation: [
          "create"
        ]
      }
    }
  },
  {
    displayName: "Chat or Group JID",
    name: "jid",
    type: "string",
    required: true,
    default: "",
    description: "JID of the chat or group; for a chat also the phone number",
    displayOptions: {
      show: {
        resource: [
          "group"
        ],
        operation: [
          "get",
          "getInvite",
          "leave",
          "updateParticipants",
          "updateSettings"
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Refresh",
        name: "refresh",
        type: "boolean",
        default: false,
        description: "Whether to ask the network instead of returning what the gateway knows"
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "group"
        ],
        operation: [
          "get"
        ]
      }
    }
  },
  {
    displayName: "Return All",
    name: "returnAll",
    type: "boolean",
    default: false,
    description: "Whether to return all results or only up to a given limit",
    displayOptions: {
      show: {
        resource: [
          "group"
        ],
        operation: [
          "getAll"
        ]
      }
    }
  },
  {
    displayName: "Limit",
    name: "limit",
    type: "number",
    typeOptions: {
      minValue: 1
    },
    default: 50,
    description: "Max number of results to return",
    displayOptions: {
      show: {
        resource: [
          "group"
        ],
        operation: [
          "getAll"
        ],
        returnAll: [
          false
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Participants",
        name: "participants",
        type: "boolean",
        default: false,
        description: "Whether to return the participants of each group"
      },
      {
        displayName: "Refresh",
        name: "refresh",
        type: "boolean",
        default: false,
        description: "Whether to ask the network instead of returning what the gateway knows"
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "group"
        ],
        operation: [
          "getAll"
        ]
      }
    }
  },
  {
    displayName: "Code",
    name: "code",
    type: "string",
    required: true,
    default: "",
    description: "Link of the invitation, or its code",
    displayOptions: {
      show: {
        resource: [
          "group"
        ],
        operation: [
          "join"
        ]
      }
    }
  },
  {
    displayName: "Action",
    name: "task",
    type: "options",
    required: true,
    options: [
      {
        name: "Add",
        value: "add"
      },
      {
        name: "Demote",
        value: "demote"
      },
      {
        name: "Promote",
        value: "promote"
      },
      {
        name: "Remove",
        value: "remove"
      }
    ],
    default: "add",
    description: "What to do",
    displayOptions: {
      show: {
        resource: [
          "group"
        ],
        operation: [
          "updateParticipants"
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Description",
        name: "description",
        type: "string",
        typeOptions: {
          rows: 4
        },
        default: "",
        description: "An empty text removes it"
      },
      {
        displayName: "Image",
        name: "image",
        type: "string",
        typeOptions: {
          rows: 4
        },
        default: "",
        description: "Address of the picture, its base64, or a data URI"
      },
      {
        displayName: "Input Binary Field",
        name: "binaryPropertyName",
        type: "string",
        default: "data",
        hint: "The name of the input binary field containing the file to be sent"
      },
      {
        displayName: "Name",
        name: "name",
        type: "string",
        default: ""
      },
      {
        displayName: "Only Admins Can Edit",
        name: "locked",
        type: "boolean",
        default: false,
        description: "Whether only admins can change name, description and image"
      },
      {
        displayName: "Only Admins Can Send",
        name: "announce",
        type: "boolean",
        default: false,
        description: "Whether only admins can send messages"
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "group"
        ],
        operation: [
          "updateSettings"
        ]
      }
    }
  },
  {
    displayName: "Operation",
    name: "operation",
    type: "options",
    noDataExpression: true,
    displayOptions: {
      show: {
        resource: [
          "instance"
        ]
      }
    },
    options: [
      {
        name: "Connect",
        value: "connect",
        action: "Connect the instance",
        description: "Start the connection"
      },
      {
        name: "Get",
        value: "get",
        action: "Get the instance",
        description: "Get an instance"
      },
      {
        name: "Get QR Code",
        value: "getQr",
        action: "Get the QR code",
        description: "Get the current QR code while the instance awaits pairing"
      },
      {
        name: "Get Status",
        value: "getStatus",
        action: "Get the status of the instance",
        description: "Get the connection status and the connected identity"
      },
      {
        name: "Log Out",
        value: "logout",
        action: "Unlink the instance from the phone",
        description: "Unlink from the phone and delete the pairing"
      },
      {
        name: "Reconnect",
        value: "reconnect",
        action: "Reconnect the instance",
        description: "Reconnect with the same pairing"
      }
    ],
    default: "connect"
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Phone",
        name: "phone",
        type: "string",
        default: "",
        description: "Requests a pairing code for this phone instead of a QR code"
      },
      {
        displayName: "Wait (Seconds)",
        name: "wait_seconds",
        type: "number",
        typeOptions: {
          minValue: 0,
          maxValue: 60
        },
        default: 5
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "instance"
        ],
        operation: [
          "connect"
        ]
      }
    }
  },
  {
    displayName: "Format",
    name: "format",
    type: "options",
    options: [
      {
        name: "JSON",
        value: "json"
      },
      {
        name: "PNG",
        value: "png"
      }
    ],
    default: "json",
    displayOptions: {
      show: {
        resource: [
          "instance"
        ],
        operation: [
          "getQr"
        ]
      }
    }
  },
  {
    displayName: "Put Output File in Field",
    name: "outputFieldName",
    type: "string",
    required: true,
    default: "data",
    hint: "The name of the output binary field to put the file in",
    displayOptions: {
      show: {
        resource: [
          "instance"
        ],
        operation: [
          "getQr"
        ],
        format: [
          "png"
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Wait (Seconds)",
        name: "wait_seconds",
        type: "number",
        typeOptions: {
          minValue: 0,
          maxValue: 60
        },
        default: 5
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "instance"
        ],
        operation: [
          "reconnect"
        ]
      }
    }
  },
  {
    displayName: "Operation",
    name: "operation",
    type: "options",
    noDataExpression: true,
    displayOptions: {
      show: {
        resource: [
          "message"
        ]
      }
    },
    options: [
      {
        name: "Delete",
        value: "delete",
        action: "Delete a message for everyone",
        description: "Delete a message that this instance sent, for everyone"
      },
      {
        name: "Download File",
        value: "downloadFile",
        action: "Download the file of a message",
        description: "Get the file of a message as binary data"
      },
      {
        name: "Edit",
        value: "edit",
        action: "Edit a message",
        description: "Edit the text of a message that this instance sent, or the caption of its file"
      },
      {
        name: "Get",
        value: "get",
        action: "Get a message",
        description: "Get one message"
      },
      {
        name: "Get Many",
        value: "getAll",
        action: "Get many messages",
        description: "List or search the messages of an instance, the newest first"
      },
      {
        name: "Get Receipts",
        value: "getReceipts",
        action: "Get the receipts of a message to a group",
        description: "List who has received, read or played a message that this instance sent to a group"
      },
      {
        name: "Mark as Read",
        value: "markRead",
        action: "Mark messages as read",
        description: "Mark messages as read"
      },
      {
        name: "React",
        value: "react",
        action: "React to a message",
        description: "React to a message"
      },
      {
        name: "Reply",
        value: "sendReply",
        action: "Reply to a message",
        description: "Reply to a message with a text that quotes it"
      },
      {
        name: "Send Contact",
        value: "sendContact",
        action: "Send a contact card",
        description: "Send a contact card"
      },
      {
        name: "Send Location",
        value: "sendLocation",
        action: "Send a location",
        description: "Send a location"
      },
      {
        name: "Send Media",
        value: "sendMedia",
        action: "Send an image video audio or document",
        description: "Send an image, video, audio, voice note, sticker or document by address, base64 or upload"
      },
      {
        name: "Send Text",
        value: "sendText",
        action: "Send a text",
        description: "Send a text"
      }
    ],
    default: "sendText"
  },
  {
    displayName: "To",
    name: "number",
    type: "string",
    required: true,
    default: "",
    description: "Phone number with country and area code, or the JID of a chat or group",
    placeholder: "5511999990004",
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "delete",
          "edit",
          "markRead",
          "react",
          "sendReply",
          "sendContact",
          "sendLocation",
          "sendMedia",
          "sendText"
        ]
      }
    }
  },
  {
    displayName: "Message ID",
    name: "message_id",
    type: "string",
    required: true,
    default: "",
    description: "The ID of the message on the network",
    placeholder: "3EB0C431D2A5F96B7E8812",
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "delete",
          "downloadFile",
          "edit",
          "react",
          "sendReply"
        ]
      }
    }
  },
  {
    displayName: "Put Output File in Field",
    name: "outputFieldName",
    type: "string",
    required: true,
    default: "data",
    hint: "The name of the output binary field to put the file in",
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "downloadFile"
        ]
      }
    }
  },
  {
    displayName: "Text",
    name: "text",
    type: "string",
    required: true,
    typeOptions: {
      rows: 4
    },
    default: "",
    description: "The text that others see",
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "edit",
          "sendReply"
        ]
      }
    }
  },
  {
    displayName: "Message ID",
    name: "messageId",
    type: "string",
    required: true,
    default: "",
    description: "The ID of the message",
    placeholder: "3EB0C431D2A5F96B7E8812",
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "get",
          "getReceipts"
        ]
      }
    }
  },
  {
    displayName: "Return All",
    name: "returnAll",
    type: "boolean",
    default: false,
    description: "Whether to return all results or only up to a given limit",
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "getAll"
        ]
      }
    }
  },
  {
    displayName: "Limit",
    name: "limit",
    type: "number",
    typeOptions: {
      minValue: 1
    },
    default: 50,
    description: "Max number of results to return",
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "getAll"
        ],
        returnAll: [
          false
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Chat",
        name: "chat",
        type: "string",
        default: "",
        placeholder: "5511999990004",
        description: "Only messages of this chat: a JID, a LID or a number"
      },
      {
        displayName: "Direction",
        name: "direction",
        type: "options",
        options: [
          {
            name: "Inbound",
            value: "inbound"
          },
          {
            name: "Outbound",
            value: "outbound"
          }
        ],
        default: "inbound"
      },
      {
        displayName: "From Time",
        name: "from",
        type: "string",
        default: "",
        placeholder: "2026-01-31T12:00:00Z",
        description: "Only messages at or after this time (ISO 8601)"
      },
      {
        displayName: "Search",
        name: "q",
        type: "string",
        default: "",
        description: "Words of the message, in any order. Case and accents do not matter, and each word also matches longer words that begin with it."
      },
      {
        displayName: "Status",
        name: "status",
        type: "options",
        options: [
          {
            name: "Cancelled",
            value: "cancelled"
          },
          {
            name: "Delivered",
            value: "delivered"
          },
          {
            name: "Failed",
            value: "failed"
          },
          {
            name: "Pending",
            value: "pending"
          },
          {
            name: "Played",
            value: "played"
          },
          {
            name: "Read",
            value: "read"
          },
          {
            name: "Received",
            value: "received"
          },
          {
            name: "Sent",
            value: "sent"
          }
        ],
        default: "pending"
      },
      {
        displayName: "Track ID",
        name: "track_id",
        type: "string",
        default: "",
        description: "Only messages that were sent with this track_id"
      },
      {
        displayName: "Type",
        name: "type",
        type: "options",
        options: [
          {
            name: "Audio",
            value: "audio"
          },
          {
            name: "Contact",
            value: "contact"
          },
          {
            name: "Document",
            value: "document"
          },
          {
            name: "Image",
            value: "image"
          },
          {
            name: "Location",
            value: "location"
          },
          {
            name: "Sticker",
            value: "sticker"
          },
          {
            name: "Text",
            value: "text"
          },
          {
            name: "Unreadable",
            value: "unreadable"
          },
          {
            name: "Video",
            value: "video"
          },
          {
            name: "Voice Note",
            value: "ptt"
          }
        ],
        default: "text"
      },
      {
        displayName: "Until Time",
        name: "until",
        type: "string",
        default: "",
        placeholder: "2026-01-31T12:00:00Z",
        description: "Only messages before this time (ISO 8601)"
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "getAll"
        ]
      }
    }
  },
  {
    displayName: "Message IDs",
    name: "message_ids",
    type: "string",
    required: true,
    default: "",
    description: "The IDs of the messages on the network, separated by commas",
    placeholder: "3EB0C431D2A5F96B7E8812",
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "markRead"
        ]
      }
    }
  },
  {
    displayName: "Reaction",
    name: "reaction",
    type: "string",
    default: "",
    description: "One emoji; an empty text removes the reaction",
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "react"
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Idempotency Key",
        name: "idempotencyKey",
        type: "string",
        default: "",
        description: "A second request with the same key within 24 hours sends nothing. By default the node makes a key from the execution, the item and the message."
      },
      {
        displayName: "Link Preview",
        name: "link_preview",
        type: "boolean",
        default: false,
        description: "Whether to show a preview of the first link in the text"
      },
      {
        displayName: "Mentions",
        name: "mentions",
        type: "string",
        default: "",
        description: "People mentioned in the text, separated by commas"
      },
      {
        displayName: "Metadata",
        name: "metadata",
        type: "json",
        default: "{}",
        description: "Stored with the message"
      },
      {
        displayName: "Send in the Background",
        name: "async",
        type: "boolean",
        default: false,
        description: "Whether to return as soon as the gateway has stored the message; an event then reports the outcome"
      },
      {
        displayName: "Track ID",
        name: "track_id",
        type: "string",
        default: "",
        description: "Returned in the events of the message"
      },
      {
        displayName: "Typing Time (Milliseconds)",
        name: "delay",
        type: "number",
        typeOptions: {
          minValue: 0,
          maxValue: 60000
        },
        default: 0,
        description: "Milliseconds to show typing before the message is sent"
      },
      {
        displayName: "Your Message ID",
        name: "client_message_id",
        type: "string",
        default: "",
        description: "Your own ID of the message. A request with the same ID within 24 hours does not send again."
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "sendReply"
        ]
      }
    }
  },
  {
    displayName: "Card Name",
    name: "contact_name",
    type: "string",
    default: "",
    description: "Name on the contact card",
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "sendContact"
        ]
      }
    }
  },
  {
    displayName: "Card Phone",
    name: "contact_phone",
    type: "string",
    default: "",
    description: "Phone number on the contact card",
    placeholder: "5511977771234",
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "sendContact"
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Idempotency Key",
        name: "idempotencyKey",
        type: "string",
        default: "",
        description: "A second request with the same key within 24 hours sends nothing. By default the node makes a key from the execution, the item and the message."
      },
      {
        displayName: "Mentions",
        name: "mentions",
        type: "string",
        default: "",
        description: "People mentioned in the text, separated by commas"
      },
      {
        displayName: "Metadata",
        name: "metadata",
        type: "json",
        default: "{}",
        description: "Stored with the message"
      },
      {
        displayName: "Reply To",
        name: "reply_to",
        type: "string",
        default: "",
        description: "The ID of the message to quote",
        placeholder: "3EB0C431D2A5F96B7E8812"
      },
      {
        displayName: "Send in the Background",
        name: "async",
        type: "boolean",
        default: false,
        description: "Whether to return as soon as the gateway has stored the message; an event then reports the outcome"
      },
      {
        displayName: "Track ID",
        name: "track_id",
        type: "string",
        default: "",
        description: "Returned in the events of the message"
      },
      {
        displayName: "Typing Time (Milliseconds)",
        name: "delay",
        type: "number",
        typeOptions: {
          minValue: 0,
          maxValue: 60000
        },
        default: 0,
        description: "Milliseconds to show typing before the message is sent"
      },
      {
        displayName: "vCard",
        name: "vcard",
        type: "string",
        typeOptions: {
          rows: 4
        },
        default: "",
        description: "A complete vCard; the gateway reads name and phone from it"
      },
      {
        displayName: "Your Message ID",
        name: "client_message_id",
        type: "string",
        default: "",
        description: "Your own ID of the message. A request with the same ID within 24 hours does not send again."
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "sendContact"
        ]
      }
    }
  },
  {
    displayName: "Latitude",
    name: "latitude",
    type: "number",
    required: true,
    default: 0,
    placeholder: "-23.5614",
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "sendLocation"
        ]
      }
    }
  },
  {
    displayName: "Longitude",
    name: "longitude",
    type: "number",
    required: true,
    default: 0,
    placeholder: "-46.6559",
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "sendLocation"
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Address",
        name: "address",
        type: "string",
        default: ""
      },
      {
        displayName: "Idempotency Key",
        name: "idempotencyKey",
        type: "string",
        default: "",
        description: "A second request with the same key within 24 hours sends nothing. By default the node makes a key from the execution, the item and the message."
      },
      {
        displayName: "Mentions",
        name: "mentions",
        type: "string",
        default: "",
        description: "People mentioned in the text, separated by commas"
      },
      {
        displayName: "Metadata",
        name: "metadata",
        type: "json",
        default: "{}",
        description: "Stored with the message"
      },
      {
        displayName: "Name",
        name: "name",
        type: "string",
        default: ""
      },
      {
        displayName: "Reply To",
        name: "reply_to",
        type: "string",
        default: "",
        description: "The ID of the message to quote",
        placeholder: "3EB0C431D2A5F96B7E8812"
      },
      {
        displayName: "Send in the Background",
        name: "async",
        type: "boolean",
        default: false,
        description: "Whether to return as soon as the gateway has stored the message; an event then reports the outcome"
      },
      {
        displayName: "Track ID",
        name: "track_id",
        type: "string",
        default: "",
        description: "Returned in the events of the message"
      },
      {
        displayName: "Typing Time (Milliseconds)",
        name: "delay",
        type: "number",
        typeOptions: {
          minValue: 0,
          maxValue: 60000
        },
        default: 0,
        description: "Milliseconds to show typing before the message is sent"
      },
      {
        displayName: "Your Message ID",
        name: "client_message_id",
        type: "string",
        default: "",
        description: "Your own ID of the message. A request with the same ID within 24 hours does not send again."
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "sendLocation"
        ]
      }
    }
  },
  {
    displayName: "File Source",
    name: "fileSource",
    type: "options",
    options: [
      {
        name: "Base64",
        value: "base64"
      },
      {
        name: "Input Binary Field",
        value: "binary"
      },
      {
        name: "URL",
        value: "url"
      }
    ],
    default: "binary",
    description: "Where the file comes from",
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "sendMedia"
        ]
      }
    }
  },
  {
    displayName: "Input Binary Field",
    name: "binaryPropertyName",
    type: "string",
    default: "data",
    hint: "The name of the input binary field containing the file to be sent",
    required: true,
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "sendMedia"
        ],
        fileSource: [
          "binary"
        ]
      }
    }
  },
  {
    displayName: "File URL",
    name: "url",
    type: "string",
    required: true,
    default: "",
    placeholder: "https://example.com/invoice.pdf",
    description: "Address of the file, which the gateway fetches",
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "sendMedia"
        ],
        fileSource: [
          "url"
        ]
      }
    }
  },
  {
    displayName: "File Base64",
    name: "base64",
    type: "string",
    required: true,
    typeOptions: {
      rows: 4
    },
    default: "",
    description: "The file in base64, or a data URI",
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "sendMedia"
        ],
        fileSource: [
          "base64"
        ]
      }
    }
  },
  {
    displayName: "Caption",
    name: "caption",
    type: "string",
    typeOptions: {
      rows: 4
    },
    default: "",
    description: "Text below the file",
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "sendMedia"
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "File Name",
        name: "file_name",
        type: "string",
        default: "",
        placeholder: "invoice.pdf"
      },
      {
        displayName: "Idempotency Key",
        name: "idempotencyKey",
        type: "string",
        default: "",
        description: "A second request with the same key within 24 hours sends nothing. By default the node makes a key from the execution, the item and the message."
      },
      {
        displayName: "Mentions",
        name: "mentions",
        type: "string",
        default: "",
        description: "People mentioned in the text, separated by commas"
      },
      {
        displayName: "Metadata",
        name: "metadata",
        type: "json",
        default: "{}",
        description: "Stored with the message"
      },
      {
        displayName: "MIME Type",
        name: "mime_type",
        type: "string",
        default: "",
        placeholder: "application/pdf"
      },
      {
        displayName: "Play as GIF",
        name: "gif_playback",
        type: "boolean",
        default: false,
        description: "Whether a video plays in a loop without sound, like a GIF"
      },
      {
        displayName: "Reply To",
        name: "reply_to",
        type: "string",
        default: "",
        description: "The ID of the message to quote",
        placeholder: "3EB0C431D2A5F96B7E8812"
      },
      {
        displayName: "Send in the Background",
        name: "async",
        type: "boolean",
        default: false,
        description: "Whether to return as soon as the gateway has stored the message; an event then reports the outcome"
      },
      {
        displayName: "Track ID",
        name: "track_id",
        type: "string",
        default: "",
        description: "Returned in the events of the message"
      },
      {
        displayName: "Type",
        name: "type",
        type: "options",
        options: [
          {
            name: "Audio",
            value: "audio"
          },
          {
            name: "Document",
            value: "document"
          },
          {
            name: "Image",
            value: "image"
          },
          {
            name: "Sticker",
            value: "sticker"
          },
          {
            name: "Video",
            value: "video"
          },
          {
            name: "Voice Note",
            value: "ptt"
          }
        ],
        default: "image",
        description: "Default: detected from mime_type or the content"
      },
      {
        displayName: "Typing Time (Milliseconds)",
        name: "delay",
        type: "number",
        typeOptions: {
          minValue: 0,
          maxValue: 60000
        },
        default: 0,
        description: "Milliseconds to show typing before the message is sent"
      },
      {
        displayName: "Voice Note",
        name: "ptt",
        type: "boolean",
        default: false,
        description: "Whether to send audio as a voice note"
      },
      {
        displayName: "Your Message ID",
        name: "client_message_id",
        type: "string",
        default: "",
        description: "Your own ID of the message. A request with the same ID within 24 hours does not send again."
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "sendMedia"
        ]
      }
    }
  },
  {
    displayName: "Text",
    name: "text",
    type: "string",
    typeOptions: {
      rows: 4
    },
    default: "",
    description: "The text that others see",
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "sendText"
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Idempotency Key",
        name: "idempotencyKey",
        type: "string",
        default: "",
        description: "A second request with the same key within 24 hours sends nothing. By default the node makes a key from the execution, the item and the message."
      },
      {
        displayName: "Link Preview",
        name: "link_preview",
        type: "boolean",
        default: false,
        description: "Whether to show a preview of the first link in the text"
      },
      {
        displayName: "Mentions",
        name: "mentions",
        type: "string",
        default: "",
        description: "People mentioned in the text, separated by commas"
      },
      {
        displayName: "Metadata",
        name: "metadata",
        type: "json",
        default: "{}",
        description: "Stored with the message"
      },
      {
        displayName: "Quick Reply",
        name: "quick_reply",
        type: "string",
        default: "",
        description: "Shortcut of a quick reply, instead of text"
      },
      {
        displayName: "Reply To",
        name: "reply_to",
        type: "string",
        default: "",
        description: "The ID of the message to quote",
        placeholder: "3EB0C431D2A5F96B7E8812"
      },
      {
        displayName: "Send in the Background",
        name: "async",
        type: "boolean",
        default: false,
        description: "Whether to return as soon as the gateway has stored the message; an event then reports the outcome"
      },
      {
        displayName: "Track ID",
        name: "track_id",
        type: "string",
        default: "",
        description: "Returned in the events of the message"
      },
      {
        displayName: "Typing Time (Milliseconds)",
        name: "delay",
        type: "number",
        typeOptions: {
          minValue: 0,
          maxValue: 60000
        },
        default: 0,
        description: "Milliseconds to show typing before the message is sent"
      },
      {
        displayName: "Your Message ID",
        name: "client_message_id",
        type: "string",
        default: "",
        description: "Your own ID of the message. A request with the same ID within 24 hours does not send again."
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "message"
        ],
        operation: [
          "sendText"
        ]
      }
    }
  },
  {
    displayName: "Operation",
    name: "operation",
    type: "options",
    noDataExpression: true,
    displayOptions: {
      show: {
        resource: [
          "profile"
        ]
      }
    },
    options: [
      {
        name: "Get",
        value: "get",
        action: "Get the profile",
        description: "Get the profile of the paired phone, its business data and its privacy settings"
      },
      {
        name: "Set Name",
        value: "setName",
        action: "Set the name of the profile",
        description: "Change the name that others see"
      },
      {
        name: "Set Photo",
        value: "setPhoto",
        action: "Set the photo of the profile",
        description: "Change the picture that others see"
      },
      {
        name: "Set Status Text",
        value: "setStatus",
        action: "Set the status text of the profile",
        description: "Change the text that others see below the name"
      }
    ],
    default: "get"
  },
  {
    displayName: "Name",
    name: "name",
    type: "string",
    required: true,
    default: "",
    displayOptions: {
      show: {
        resource: [
          "profile"
        ],
        operation: [
          "setName"
        ]
      }
    }
  },
  {
    displayName: "File Source",
    name: "fileSource",
    type: "options",
    options: [
      {
        name: "Base64",
        value: "base64"
      },
      {
        name: "Input Binary Field",
        value: "binary"
      },
      {
        name: "URL",
        value: "url"
      }
    ],
    default: "binary",
    description: "Where the file comes from",
    displayOptions: {
      show: {
        resource: [
          "profile"
        ],
        operation: [
          "setPhoto"
        ]
      }
    }
  },
  {
    displayName: "Input Binary Field",
    name: "binaryPropertyName",
    type: "string",
    default: "data",
    hint: "The name of the input binary field containing the file to be sent",
    required: true,
    displayOptions: {
      show: {
        resource: [
          "profile"
        ],
        operation: [
          "setPhoto"
        ],
        fileSource: [
          "binary"
        ]
      }
    }
  },
  {
    displayName: "File URL",
    name: "url",
    type: "string",
    required: true,
    default: "",
    placeholder: "https://example.com/invoice.pdf",
    description: "Address of the file, which the gateway fetches",
    displayOptions: {
      show: {
        resource: [
          "profile"
        ],
        operation: [
          "setPhoto"
        ],
        fileSource: [
          "url"
        ]
      }
    }
  },
  {
    displayName: "File Base64",
    name: "base64",
    type: "string",
    required: true,
    typeOptions: {
      rows: 4
    },
    default: "",
    description: "The file in base64, or a data URI",
    displayOptions: {
      show: {
        resource: [
          "profile"
        ],
        operation: [
          "setPhoto"
        ],
        fileSource: [
          "base64"
        ]
      }
    }
  },
  {
    displayName: "Text",
    name: "text",
    type: "string",
    default: "",
    description: "The text that others see",
    displayOptions: {
      show: {
        resource: [
          "profile"
        ],
        operation: [
          "setStatus"
        ]
      }
    }
  },
  {
    displayName: "Operation",
    name: "operation",
    type: "options",
    noDataExpression: true,
    displayOptions: {
      show: {
        resource: [
          "webhook"
        ]
      }
    },
    options: [
      {
        name: "Delete",
        value: "delete",
        action: "Delete a webhook",
        description: "Remove a webhook and discard its pending deliveries"
      },
      {
        name: "Get Delivery Logs",
        value: "getLogs",
        action: "Get delivery logs",
        description: "List the delivery attempts, one row per HTTP request"
      },
      {
        name: "Get Many",
        value: "getAll",
        action: "Get many webhooks",
        description: "List the webhooks of an instance"
      },
      {
        name: "Send Failed Events Again",
        value: "recover",
        action: "Send failed events again",
        description: "Send all failed events of a webhook since a time again, each with new attempts"
      },
      {
        name: "Send Logged Event Again",
        value: "retryLog",
        action: "Send the event of a delivery log again",
        description: "Send the event of an attempt again to the same webhook"
      },
      {
        name: "Test",
        value: "test",
        action: "Test a webhook",
        description: "Send a test event to a webhook and wait for its only attempt"
      }
    ],
    default: "delete"
  },
  {
    displayName: "Webhook ID",
    name: "webhookId",
    type: "number",
    required: true,
    typeOptions: {
      minValue: 1
    },
    default: 0,
    displayOptions: {
      show: {
        resource: [
          "webhook"
        ],
        operation: [
          "delete",
          "recover",
          "test"
        ]
      }
    }
  },
  {
    displayName: "Return All",
    name: "returnAll",
    type: "boolean",
    default: false,
    description: "Whether to return all results or only up to a given limit",
    displayOptions: {
      show: {
        resource: [
          "webhook"
        ],
        operation: [
          "getLogs"
        ]
      }
    }
  },
  {
    displayName: "Limit",
    name: "limit",
    type: "number",
    typeOptions: {
      minValue: 1
    },
    default: 50,
    description: "Max number of results to return",
    displayOptions: {
      show: {
        resource: [
          "webhook"
        ],
        operation: [
          "getLogs"
        ],
        returnAll: [
          false
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Event",
        name: "event",
        type: "string",
        default: "",
        placeholder: "message.received"
      },
      {
        displayName: "Event ID",
        name: "event_id",
        type: "string",
        default: "",
        placeholder: "evt_01M7VZ7A9ZBG8NWRNYBYXP4FZP"
      },
      {
        displayName: "From Time",
        name: "from",
        type: "string",
        default: "",
        placeholder: "2026-01-31T12:00:00Z",
        description: "Attempts at or after this time"
      },
      {
        displayName: "Status Code",
        name: "status_code",
        type: "number",
        typeOptions: {
          minValue: 100,
          maxValue: 599
        },
        default: 100
      },
      {
        displayName: "Success",
        name: "success",
        type: "boolean",
        default: false,
        description: "Whether to return successful attempts instead of failed ones"
      },
      {
        displayName: "To Time",
        name: "to",
        type: "string",
        default: "",
        placeholder: "2026-01-31T12:00:00Z",
        description: "Attempts before this time"
      },
      {
        displayName: "Webhook ID",
        name: "webhook_id",
        type: "number",
        default: 0
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "webhook"
        ],
        operation: [
          "getLogs"
        ]
      }
    }
  },
  {
    displayName: "Since",
    name: "since",
    type: "string",
    required: true,
    default: "",
    placeholder: "2026-01-31T12:00:00Z",
    description: "Events recorded at or after this time",
    displayOptions: {
      show: {
        resource: [
          "webhook"
        ],
        operation: [
          "recover"
        ]
      }
    }
  },
  {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: [
      {
        displayName: "Whether to only count what would be sent again, and send nothing",
        name: "dry_run",
        type: "boolean",
        default: false,
        description: "Whether to only count what would be sent again, and send nothing"
      }
    ],
    displayOptions: {
      show: {
        resource: [
          "webhook"
        ],
        operation: [
          "recover"
        ]
      }
    }
  },
  {
    displayName: "Log ID",
    name: "logId",
    type: "number",
    required: true,
    typeOptions: {
      minValue: 1
    },
    default: 0,
    displayOptions: {
      show: {
        resource: [
          "webhook"
        ],
        operation: [
          "retryLog"
        ]
      }
    }
  }
];
