// Written by `npm run generate` from the contract.
import type { Operation } from "./operation.ts";

/** How each operation is requested. */
export const OPERATIONS: Readonly<Record<string, Readonly<Record<string, Operation>>>> = {
  chat: {
    getAll: {"http":"GET /api/v1/instances/:id/chats","fields":[{"name":"chat","kind":"text","isAdditional":true},{"name":"archived","kind":"boolean","isAdditional":true},{"name":"pinned","kind":"boolean","isAdditional":true},{"name":"unread","kind":"boolean","isAdditional":true},{"name":"type","kind":"text","isAdditional":true},{"name":"q","kind":"text","isAdditional":true}],"isPaginated":true},
    getMessages: {"http":"GET /api/v1/instances/:id/chats/:jid/messages","fields":[{"name":"jid","kind":"text"},{"name":"direction","kind":"text","isAdditional":true},{"name":"type","kind":"text","isAdditional":true},{"name":"status","kind":"text","isAdditional":true},{"name":"track_id","kind":"text","isAdditional":true},{"name":"from","kind":"text","isAdditional":true},{"name":"until","kind":"text","isAdditional":true},{"name":"q","kind":"text","isAdditional":true}],"isPaginated":true},
    setPresence: {"http":"POST /api/v1/instances/:id/presence","fields":[{"name":"number","kind":"text"},{"name":"presence","kind":"text"},{"name":"duration_ms","kind":"number","isAdditional":true}]},
    setState: {"http":"POST /api/v1/instances/:id/chats/state","fields":[{"name":"number","kind":"text"},{"name":"task","path":"action","kind":"text"},{"name":"duration_seconds","kind":"number","isAdditional":true}]},
  },
  contact: {
    block: {"http":"POST /api/v1/instances/:id/contacts/block","fields":[{"name":"number","kind":"text"},{"name":"task","path":"action","kind":"text"}]},
    check: {"http":"POST /api/v1/instances/:id/contacts/check","fields":[{"name":"numbers","kind":"list"},{"name":"refresh","kind":"boolean","isAdditional":true}]},
    get: {"http":"POST /api/v1/instances/:id/contacts/info","fields":[{"name":"number","kind":"text"}]},
    getAll: {"http":"GET /api/v1/instances/:id/contacts","fields":[{"name":"q","kind":"text","isAdditional":true},{"name":"synchronise","kind":"boolean","isAdditional":true}],"isPaginated":true},
  },
  event: {
    get: {"http":"GET /api/v1/instances/:id/webhook-events/:eventId","fields":[{"name":"eventId","kind":"text"}]},
    getAll: {"http":"GET /api/v1/instances/:id/webhook-events","fields":[{"name":"event","kind":"text","isAdditional":true},{"name":"webhook_id","kind":"number","isAdditional":true},{"name":"status","kind":"text","isAdditional":true},{"name":"from","kind":"text","isAdditional":true},{"name":"to","kind":"text","isAdditional":true},{"name":"after","kind":"number","isAdditional":true}],"isPaginated":true},
    retry: {"http":"POST /api/v1/instances/:id/webhook-events/:eventId/retry","fields":[{"name":"eventId","kind":"text"},{"name":"webhook_id","kind":"number","isAdditional":true}]},
  },
  group: {
    create: {"http":"POST /api/v1/instances/:id/groups","fields":[{"name":"name","kind":"text"},{"name":"participants","kind":"list"},{"name":"description","kind":"text","isAdditional":true}]},
    get: {"http":"GET /api/v1/instances/:id/groups/:jid","fields":[{"name":"jid","kind":"text"},{"name":"refresh","kind":"boolean","isAdditional":true}]},
    getAll: {"http":"GET /api/v1/instances/:id/groups","fields":[{"name":"refresh","kind":"boolean","isAdditional":true},{"name":"participants","kind":"boolean","isAdditional":true}],"isPaginated":true},
    getInvite: {"http":"GET /api/v1/instances/:id/groups/:jid/invite","fields":[{"name":"jid","kind":"text"}]},
    join: {"http":"POST /api/v1/instances/:id/groups/join","fields":[{"name":"code","kind":"text"}]},
    leave: {"http":"POST /api/v1/instances/:id/groups/leave","fields":[{"name":"jid","kind":"text"}]},
    updateParticipants: {"http":"POST /api/v1/instances/:id/groups/participants","fields":[{"name":"jid","kind":"text"},{"name":"task","path":"action","kind":"text"},{"name":"participants","kind":"list"}]},
    updateSettings: {"http":"POST /api/v1/instances/:id/groups/settings","fields":[{"name":"jid","kind":"text"},{"name":"name","kind":"text","isAdditional":true},{"name":"description","kind":"text","isAdditional":true,"mayBeEmpty":true},{"name":"image","kind":"text","isAdditional":true},{"name":"announce","kind":"boolean","isAdditional":true},{"name":"locked","kind":"boolean","isAdditional":true}],"upload":"image"},
  },
  instance: {
    connect: {"http":"POST /api/v1/instances/:id/connect","fields":[{"name":"phone","kind":"text","isAdditional":true},{"name":"wait_seconds","kind":"number","isAdditional":true}]},
    get: {"http":"GET /api/v1/instances/:id","fields":[]},
    getQr: {"http":"GET /api/v1/instances/:id/qr","fields":[{"name":"format","kind":"text"}],"isFile":true},
    getStatus: {"http":"GET /api/v1/instances/:id/status","fields":[]},
    logout: {"http":"POST /api/v1/instances/:id/logout","fields":[]},
    reconnect: {"http":"POST /api/v1/instances/:id/reconnect","fields":[{"name":"wait_seconds","kind":"number","isAdditional":true}]},
  },
  message: {
    delete: {"http":"POST /api/v1/instances/:id/messages/delete","fields":[{"name":"number","kind":"text"},{"name":"message_id","kind":"text"}]},
    downloadFile: {"http":"POST /api/v1/instances/:id/messages/download","fields":[{"name":"message_id","kind":"text"}],"isFile":true},
    edit: {"http":"POST /api/v1/instances/:id/messages/edit","fields":[{"name":"number","kind":"text"},{"name":"message_id","kind":"text"},{"name":"text","kind":"text"}]},
    get: {"http":"GET /api/v1/instances/:id/messages/:messageId","fields":[{"name":"messageId","kind":"text"}]},
    getAll: {"http":"GET /api/v1/instances/:id/messages","fields":[{"name":"chat","kind":"text","isAdditional":true},{"name":"direction","kind":"text","isAdditional":true},{"name":"type","kind":"text","isAdditional":true},{"name":"status","kind":"text","isAdditional":true},{"name":"track_id","kind":"text","isAdditional":true},{"name":"from","kind":"text","isAdditional":true},{"name":"until","kind":"text","isAdditional":true},{"name":"q","kind":"text","isAdditional":true}],"isPaginated":true},
    getReceipts: {"http":"GET /api/v1/instances/:id/messages/:messageId/receipts","fields":[{"name":"messageId","kind":"text"}]},
    markRead: {"http":"POST /api/v1/instances/:id/messages/read","fields":[{"name":"number","kind":"text"},{"name":"message_ids","kind":"list"}]},
    react: {"http":"POST /api/v1/instances/:id/messages/react","fields":[{"name":"number","kind":"text"},{"name":"message_id","kind":"text"},{"name":"reaction","kind":"text","mayBeEmpty":true}]},
    sendReply: {"http":"POST /api/v1/instances/:id/send-reply","fields":[{"name":"number","kind":"text"},{"name":"async","kind":"boolean","isAdditional":true},{"name":"delay","kind":"number","isAdditional":true},{"name":"mentions","kind":"list","isAdditional":true},{"name":"client_message_id","kind":"text","isAdditional":true},{"name":"track_id","kind":"text","isAdditional":true},{"name":"metadata","kind":"json","isAdditional":true},{"name":"text","kind":"text"},{"name":"link_preview","kind":"boolean","isAdditional":true},{"name":"message_id","kind":"text"}],"isIdempotent":true},
    sendContact: {"http":"POST /api/v1/instances/:id/send-contact","fields":[{"name":"number","kind":"text"},{"name":"async","kind":"boolean","isAdditional":true},{"name":"delay","kind":"number","isAdditional":true},{"name":"mentions","kind":"list","isAdditional":true},{"name":"reply_to","kind":"text","isAdditional":true},{"name":"client_message_id","kind":"text","isAdditional":true},{"name":"track_id","kind":"text","isAdditional":true},{"name":"metadata","kind":"json","isAdditional":true},{"name":"contact_name","path":"contact.name","kind":"text"},{"name":"contact_phone","path":"contact.phone","kind":"text"},{"name":"vcard","kind":"text","isAdditional":true}],"isIdempotent":true},
    sendLocation: {"http":"POST /api/v1/instances/:id/send-location","fields":[{"name":"number","kind":"text"},{"name":"async","kind":"boolean","isAdditional":true},{"name":"delay","kind":"number","isAdditional":true},{"name":"mentions","kind":"list","isAdditional":true},{"name":"reply_to","kind":"text","isAdditional":true},{"name":"client_message_id","kind":"text","isAdditional":true},{"name":"track_id","kind":"text","isAdditional":true},{"name":"metadata","kind":"json","isAdditional":true},{"name":"latitude","kind":"number"},{"name":"longitude","kind":"number"},{"name":"name","kind":"text","isAdditional":true},{"name":"address","kind":"text","isAdditional":true}],"isIdempotent":true},
    sendMedia: {"http":"POST /api/v1/instances/:id/send-media","fields":[{"name":"number","kind":"text"},{"name":"async","kind":"boolean","isAdditional":true},{"name":"delay","kind":"number","isAdditional":true},{"name":"mentions","kind":"list","isAdditional":true},{"name":"reply_to","kind":"text","isAdditional":true},{"name":"client_message_id","kind":"text","isAdditional":true},{"name":"track_id","kind":"text","isAdditional":true},{"name":"metadata","kind":"json","isAdditional":true},{"name":"type","kind":"text","isAdditional":true},{"name":"mime_type","kind":"text","isAdditional":true},{"name":"file_name","kind":"text","isAdditional":true},{"name":"caption","kind":"text"},{"name":"ptt","kind":"boolean","isAdditional":true},{"name":"gif_playback","kind":"boolean","isAdditional":true},{"name":"url","kind":"text","isFileSource":true},{"name":"base64","kind":"text","isFileSource":true}],"upload":"file","isIdempotent":true},
    sendText: {"http":"POST /api/v1/instances/:id/send-text","fields":[{"name":"number","kind":"text"},{"name":"async","kind":"boolean","isAdditional":true},{"name":"delay","kind":"number","isAdditional":true},{"name":"mentions","kind":"list","isAdditional":true},{"name":"reply_to","kind":"text","isAdditional":true},{"name":"client_message_id","kind":"text","isAdditional":true},{"name":"track_id","kind":"text","isAdditional":true},{"name":"metadata","kind":"json","isAdditional":true},{"name":"text","kind":"text"},{"name":"link_preview","kind":"boolean","isAdditional":true},{"name":"quick_reply","kind":"text","isAdditional":true}],"isIdempotent":true},
  },
  profile: {
    get: {"http":"GET /api/v1/instances/:id/profile","fields":[]},
    setName: {"http":"POST /api/v1/instances/:id/profile/name","fields":[{"name":"name","kind":"text"}]},
    setPhoto: {"http":"POST /api/v1/instances/:id/profile/photo","fields":[{"name":"url","kind":"text","isFileSource":true},{"name":"base64","kind":"text","isFileSource":true}],"upload":"file"},
    setStatus: {"http":"POST /api/v1/instances/:id/profile/status","fields":[{"name":"text","kind":"text","mayBeEmpty":true}]},
  },
  webhook: {
    delete: {"http":"DELETE /api/v1/instances/:id/webhooks/:webhookId","fields":[{"name":"webhookId","kind":"number"}]},
    getAll: {"http":"GET /api/v1/instances/:id/webhooks","fields":[]},
    getLogs: {"http":"GET /api/v1/instances/:id/webhook-logs","fields":[{"name":"webhook_id","kind":"number","isAdditional":true},{"name":"event","kind":"text","isAdditional":true},{"name":"event_id","kind":"text","isAdditional":true},{"name":"success","kind":"boolean","isAdditional":true},{"name":"status_code","kind":"number","isAdditional":true},{"name":"from","kind":"text","isAdditional":true},{"name":"to","kind":"text","isAdditional":true}],"isPaginated":true},
    recover: {"http":"POST /api/v1/instances/:id/webhooks/:webhookId/recover","fields":[{"name":"webhookId","kind":"number"},{"name":"since","kind":"text"},{"name":"dry_run","kind":"boolean","isAdditional":true}]},
    retryLog: {"http":"POST /api/v1/webhook-logs/:logId/retry","fields":[{"name":"logId","kind":"number"}]},
    test: {"http":"POST /api/v1/instances/:id/webhooks/:webhookId/test","fields":[{"name":"webhookId","kind":"number"}]},
  },
};
