/** What needs a person, by the key and the values of the alert. */
export const alerts = {
  alerts: {
    instance: "{name} ya no está conectada: {status}.",
    webhook: {
      disabled: "El webhook {name} está desactivado porque falló demasiado tiempo.",
      disabledHelp: "Repara el programa, activa el webhook de nuevo y reenvía lo que no recibió.",
      fails: "El webhook {name} falla.",
    },
    webhookCause: {
      dns: "No se pudo resolver el nombre de su servidor.",
      refused: "Su programa rechaza la conexión.",
      reset: "Su programa cierra la conexión sin responder.",
      tls: "La conexión segura con su programa falla.",
      timeout_connect: "Su servidor no acepta la conexión a tiempo.",
      timeout_total: "Su programa tarda demasiado en responder.",
      blocked: "El gateway no puede llamar a su dirección.",
      invalid_url: "Su dirección no es válida.",
      protocol: "Lo que responde en su dirección no es un servidor web.",
      redirect: "Su dirección redirige (estado {status}).",
      refusal: "Su programa rechaza los eventos (estado {status}).",
      crash: "Su programa responde con un error (estado {status}).",
      starting: "n8n está arrancando y descarta los eventos.",
      unknown: "No llega ninguna respuesta de su programa.",
    },
    webhookHelp: {
      dns: "Comprueba el nombre del servidor en la dirección y su entrada de DNS. Si fallan también otros webhooks, comprueba el DNS del gateway.",
      refused: "Arranca el programa y revisa el servidor y el puerto de la dirección.",
      reset: "Mira el registro del programa o del proxy que tiene delante.",
      tls: "Revisa el certificado del servidor.",
      timeout_connect: "Comprueba que el servidor funciona y que su cortafuegos deja pasar al gateway.",
      timeout_total: "Haz que el programa responda primero y trabaje después.",
      blocked: "Pon una dirección pública, o pide al operador que permita esta con WAYGATE_ALLOWED_HOSTS.",
      invalid_url: "Escribe una dirección http o https completa.",
      protocol: "Revisa el puerto, y si espera http o https.",
      redirect: "Pon la dirección final: el gateway no sigue redirecciones.",
      refusal: "Revisa la ruta, el secreto y las cabeceras, y mira el registro del programa.",
      crash: "Mira el registro del programa y repáralo.",
      starting: "Espera a que n8n funcione. El gateway repite los eventos por sí solo.",
      unknown: "Su último intento dice el motivo.",
    },
    attention: {
      passkey_challenge:
        "WhatsApp pide la llave de acceso de esta cuenta a la sesión vinculada, y ningún gateway puede darla. Abre WhatsApp en el teléfono y sigue lo que pide. Si la sesión se cierra, conecta la instancia y vincúlala de nuevo.",
    },
    storage: "Está en uso el {percent} % del espacio para archivos.",
    storageHelp:
      "Guarda los archivos menos días o pide un plan con más espacio. Cuando se llena, los archivos nuevos no se guardan.",
    storageOf: "{name} usa el {percent} % de su espacio para archivos.",
    storageOfHelp: "Acorta el tiempo que la cuenta guarda los archivos, o dale un plan con más espacio.",
    queue:
      "Hay tareas atrasadas: {queue}. La más antigua lleva {seconds, plural, one {# segundo} other {# segundos}} de retraso.",
    queueHelp: "Comprueba que hay nodos con este papel y que la base de datos es rápida, o añade un nodo.",
    held: "El trabajo de la copia restaurada está retenido.",
    heldHelp: {
      none: "Libéralo o descártalo en el resumen.",
      release: "Lo has liberado. Si sigue retenido, comprueba que hay un nodo con el papel worker.",
      discard: "Lo has descartado. Si sigue retenido, comprueba que hay un nodo con el papel worker.",
    },
    node: "Ningún nodo con el papel {role} está activo.",
    nodeHelp: "Arranca un nodo con {role} en WAYGATE_ROLES.",
    advice: {
      disconnected: "Conéctala de nuevo.",
      failures: "Falla uno de cada cinco mensajes, o más. Mira los errores de sus mensajes fallidos.",
      silence:
        "No ha llegado nada en un día aunque envía. Escríbele desde otro teléfono y conéctala de nuevo.",
    },
  },
} as const;
