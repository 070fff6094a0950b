/** By the gateway's code of a failed pairing. */
export const pairing = {
  pairing: {
    qr_expired: {
      message: "No phone completed the link while the QR codes were shown.",
      action: "Connect again and scan the code that is shown then. If the phone says that it could not link the device, remove a device under Linked devices, or wait an hour and try again.",
    },
    code_expired: {
      message: "The pairing code was not entered on the phone within its 180 seconds.",
      action: "Connect again with the same number and enter the new code at once.",
    },
    code_withdrawn: {
      message: "WhatsApp has withdrawn the pairing code.",
      action: "Connect again to get a new code, or link by QR.",
    },
    wrong_code: {
      message: "The code that was entered on the phone is not the one that was shown, or was too old.",
      action: "Enter the code that is shown now. If none is shown, connect again.",
    },
    number_refused: {
      message: "WhatsApp does not accept this number for a pairing code.",
      action: "Check country code and area code, for example 5511999990004, and that WhatsApp on this phone has this number. Otherwise link by QR.",
    },
    code_forbidden: {
      message: "WhatsApp does not allow this number to link by a pairing code.",
      action: "Link by QR instead.",
    },
    rate_limited: {
      message: "WhatsApp accepts no more pairing codes or connections for some time, because too many were requested.",
      action: "Wait until {time}, or link by QR if it was a code. Requests in the meantime make the wait longer.",
    },
    pairing_unavailable: {
      message: "WhatsApp did not give a pairing code.",
      action: "Try again in a few minutes, or link by QR.",
    },
    link_not_completed: {
      message: "The phone accepted the code but did not complete the link: the code was mistyped, or the phone has reached its limit of linked devices.",
      action: "Look at the phone. If it calls the code wrong, enter it again; otherwise remove a device under Linked devices. Connect again when no code is shown.",
    },
    phone_refused: {
      message: "The phone used a QR code or a pairing code that is no longer valid, so the link was refused.",
      action: "Scan or enter the code that is shown now. If none is shown, connect again.",
    },
    not_stored: {
      message: "The phone agreed, but the gateway could not store the link in its database.",
      action: "If the phone lists the device under Linked devices, remove it there. Connect again once the database works; `/health` shows whether it does.",
    },
    passkey_expired: {
      message: "The passkey confirmation did not arrive while WhatsApp waited for it.",
      action: "Connect again, scan the new code, and sign the challenge at once.",
    },
    passkey_no_answer: {
      message: "The passkey was accepted, but the phone did not link. It may have reached its limit of linked devices, or WhatsApp limits new links for some hours.",
      action: "On the phone, remove a device under Linked devices, then connect again. If that does not help, wait a day.",
    },
    passkey_not_confirmed: {
      message: "The confirmation that the phone shows the same code did not arrive in time.",
      action: "Connect again, and confirm when the two codes are the same.",
    },
    passkey_failed: {
      message: "WhatsApp or the phone aborted the confirmation with the passkey.",
      action: "Connect again and start from the beginning. If it happens again, update Waygate.",
    },
    passkey_cancelled: {
      message: "The confirmation with the passkey was cancelled.",
      action: "Connect again to link.",
    },
    passkey_interrupted: {
      message: "The connection ended while WhatsApp waited for the passkey.",
      action: "Connect again, scan the new code, and sign the challenge at once.",
    },
    client_outdated: {
      message: "WhatsApp no longer accepts this version of its web client.",
      action: "Update Waygate, or set WAYGATE_WHATSAPP_VERSION to the current version and restart.",
    },
    connection_failed: {
      message: "WhatsApp could not be reached, or ended the connection before a phone was linked.",
      action: "Check the network and the proxy (of the instance, else WAYGATE_EGRESS_PROXY), then connect again.",
    },
  },
} as const;
