export const pairing = {
  pairing: {
    qr_expired: {
      message: "Ningún teléfono completó la vinculación mientras se mostraban los códigos QR.",
      action: "Conecta de nuevo y escanea el código que se muestre. Si el teléfono dice que no pudo vincular el dispositivo, quita uno en Dispositivos vinculados, o espera una hora e inténtalo otra vez.",
    },
    code_expired: {
      message: "El código de vinculación no se escribió en el teléfono en sus 180 segundos.",
      action: "Conecta de nuevo con el mismo número y escribe el código nuevo enseguida.",
    },
    code_withdrawn: {
      message: "WhatsApp retiró el código de vinculación.",
      action: "Conecta de nuevo para obtener otro código, o vincula con QR.",
    },
    wrong_code: {
      message: "El código que se escribió en el teléfono no es el que se mostró, o era demasiado antiguo.",
      action: "Escribe el código que se muestra ahora. Si no se muestra ninguno, conecta de nuevo.",
    },
    number_refused: {
      message: "WhatsApp no acepta este número para un código de vinculación.",
      action: "Revisa el código de país y de área, por ejemplo 5511999990004, y que WhatsApp en este teléfono tenga este número. Si no, vincula con QR.",
    },
    code_forbidden: {
      message: "WhatsApp no permite que este número se vincule con un código.",
      action: "Vincula con QR.",
    },
    rate_limited: {
      message: "WhatsApp no acepta más códigos de vinculación ni conexiones durante un tiempo, porque se pidieron demasiados.",
      action: "Espera hasta {time}, o vincula con QR si era un código. Pedir más mientras tanto alarga la espera.",
    },
    pairing_unavailable: {
      message: "WhatsApp no dio ningún código de vinculación.",
      action: "Inténtalo de nuevo en unos minutos, o vincula con QR.",
    },
    link_not_completed: {
      message: "El teléfono aceptó el código pero no completó la vinculación: el código tenía un error, o el teléfono llegó a su límite de dispositivos vinculados.",
      action: "Mira el teléfono. Si dice que el código es incorrecto, escríbelo de nuevo; si no, quita un dispositivo en Dispositivos vinculados. Conecta de nuevo cuando no se muestre ningún código.",
    },
    phone_refused: {
      message: "El teléfono usó un código QR o de vinculación que ya no es válido, y la vinculación se rechazó.",
      action: "Escanea o escribe el código que se muestra ahora. Si no se muestra ninguno, conecta de nuevo.",
    },
    not_stored: {
      message: "El teléfono aceptó, pero el gateway no pudo guardar la vinculación en su base de datos.",
      action: "Si el teléfono muestra el dispositivo en Dispositivos vinculados, quítalo allí. Conecta de nuevo cuando la base de datos funcione; `/health` lo muestra.",
    },
    passkey_expired: {
      message: "La confirmación con la llave de acceso no llegó mientras WhatsApp la esperaba.",
      action: "Conecta de nuevo, escanea el código nuevo y firma el desafío enseguida.",
    },
    passkey_no_answer: {
      message: "La llave de acceso se aceptó, pero el teléfono no se vinculó. Puede que haya llegado a su límite de dispositivos vinculados, o que WhatsApp limite las vinculaciones nuevas durante unas horas.",
      action: "Quita un dispositivo en Dispositivos vinculados del teléfono y conecta de nuevo. Si no ayuda, espera un día.",
    },
    passkey_not_confirmed: {
      message: "La confirmación de que el teléfono muestra el mismo código no llegó a tiempo.",
      action: "Conecta de nuevo, y confirma cuando los dos códigos sean iguales.",
    },
    passkey_failed: {
      message: "WhatsApp o el teléfono interrumpió la confirmación con la llave de acceso.",
      action: "Conecta de nuevo y empieza desde el principio. Si ocurre otra vez, actualiza Waygate.",
    },
    passkey_cancelled: {
      message: "La confirmación con la llave de acceso se canceló.",
      action: "Conecta de nuevo para vincular.",
    },
    passkey_interrupted: {
      message: "La conexión terminó mientras WhatsApp esperaba la llave de acceso.",
      action: "Conecta de nuevo, escanea el código nuevo y firma el desafío enseguida.",
    },
    client_outdated: {
      message: "WhatsApp ya no acepta esta versión de su cliente web.",
      action: "Actualiza Waygate, o pon en WAYGATE_WHATSAPP_VERSION la versión actual y reinicia.",
    },
    connection_failed: {
      message: "No se pudo llegar a WhatsApp, o terminó la conexión antes de vincular un teléfono.",
      action: "Revisa la red y el proxy (de la instancia, o WAYGATE_EGRESS_PROXY), y conecta de nuevo.",
    },
  },
} as const;
