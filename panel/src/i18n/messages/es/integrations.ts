const replyLimit = {
  loop_protection: {
    label: "Impedir que dos bots se respondan entre sí",
    hint: "Pausa las respuestas automáticas en un chat que recibe demasiadas. Déjalo activado si no sabes por qué no.",
  },
  max_replies_per_minute: {
    label: "Máximo de respuestas por minuto en un chat",
    hint: "De 1 a 600. En el límite el chat hace una pausa de un minuto, después más larga.",
  },
} as const;

export const integrations = {
  integrations: {
    title: "Integraciones",
    lead: "Deja que un flujo, un bot o un equipo responda a los mensajes de esta instancia.",
    own: "Tu propio programa no necesita una integración: usa un <link>webhook</link>.",
    open: "Abrir",
    setUp: "Configurar",
    state: {
      none: "Sin configurar",
      off: "Apagada",
      paused: "En pausa",
      unknown: "Aún sin probar",
      ok: "Funciona",
      warning: "Funciona, con un problema",
      failing: "Fallando",
      auth_error: "Rechazada",
      inactive: "Nadie escucha",
    },
    sentence: {
      none: "No está configurada para esta instancia.",
      off: "Está apagada: no recibe eventos, y su configuración se conserva.",
      paused: "La mayoría de las peticiones falló, por eso el gateway espera antes de la siguiente.",
      unknown: "No se envió nada desde que se guardó. Pruébala.",
      ok: "La última petición tuvo éxito.",
      warning: "La última petición tuvo éxito, pero algo en ella no.",
      failing: "La última petición falló. El gateway la repite.",
      auth_error: "El otro programa rechaza las credenciales. Corrígelas, y lo que espera se envía.",
      inactive: "El programa responde, pero no acepta eventos.",
    },
    pausedUntil: "Sigue a las {time}.",
    waiting: "{count, plural, one {# evento espera.} other {# eventos esperan.}}",
    problem: {
      dns: "No se pudo resolver el nombre del servidor. Comprueba la dirección, su entrada de DNS y el DNS del gateway.",
      refused: "El programa rechaza la conexión. Arráncalo y revisa el servidor y el puerto de su dirección.",
      reset: "El programa cerró la conexión sin responder. Mira su registro.",
      tls: "La conexión segura falló. Revisa el certificado del servidor.",
      timeout_connect:
        "El servidor no aceptó la conexión a tiempo. Comprueba que funciona y deja pasar al gateway.",
      timeout_total: "El programa tardó demasiado en responder. Haz que responda antes.",
      blocked:
        "El gateway no puede llamar a esta dirección. Si el programa está en tu propia red, el operador la permite con WAYGATE_ALLOWED_HOSTS.",
      invalid_url: "La dirección no es válida. Escribe una dirección http o https completa.",
      protocol:
        "Lo que responde en esta dirección no es un servidor web. Revisa el puerto, y si espera http o https.",
      status: "El programa rechazó la petición.",
      n8n_starting: "n8n está arrancando. El gateway envía el evento otra vez en unos segundos.",
      n8n_not_found:
        "n8n está arrancando, o la dirección no es de n8n. Si continúa, compárala con la URL de producción del nodo Webhook.",
      n8n_test_address:
        "Esta es la dirección de prueba del flujo, que solo funciona mientras su editor escucha. Usa la URL de producción.",
      n8n_inactive:
        "El flujo no está activo, o su nodo Webhook tiene otra ruta o método. Actívalo y pon POST como su método HTTP.",
      n8n_token:
        "El nodo Webhook rechaza el token, o la dirección o el nombre del gateway. Pon el mismo token en los dos. Los eventos esperan un día.",
      n8n_failed: "El flujo o su respuesta falló. Mira sus ejecuciones en n8n.",
      n8n_lost:
        "La respuesta del flujo se perdió o llegó tarde. Haz que responda antes, sube los límites de tiempo, o haz que responda por la API.",
      typebot_not_viewer:
        "Lo que responde no es un visor de Typebot. Pon la dirección en la que los visitantes chatean con el bot.",
      typebot_builder:
        "Este es el editor de Typebot, no el visor. Pon la dirección en la que los visitantes chatean con el bot.",
      typebot_closed: "El bot está cerrado, o rechaza el mensaje.",
      typebot_token: "El visor rechaza el token de la API. Los mensajes esperan un día.",
      typebot_suspended:
        "El bot está suspendido, o rechaza las peticiones de este gateway. Los mensajes esperan un día.",
      typebot_session_gone: "El bot ya no tiene la sesión, y el flujo empieza de nuevo.",
      typebot_block: "Un bloque del flujo falló.",
      typebot_unpublished:
        "No hay ningún bot publicado con este nombre en esta dirección. Publícalo y pon la última parte de su dirección.",
      chatwoot_token:
        "Chatwoot no conoce el token de acceso. Usa el token del perfil de un usuario. Si es correcto, puede que un proxy quite su cabecera `api_access_token`.",
      chatwoot_role:
        "El token de acceso es correcto, pero su usuario no es administrador de la cuenta en Chatwoot.",
      chatwoot_suspended: "La cuenta está suspendida en Chatwoot.",
      chatwoot_too_large: "El archivo es demasiado grande para Chatwoot o para un proxy que tiene delante.",
      chatwoot_identity:
        "Chatwoot rechaza contactos nuevos, porque la bandeja tiene otro token HMAC que antes. Guarda la integración de nuevo.",
      chatwoot_inbox_gone:
        "La bandeja ya no existe en Chatwoot. Guarda la integración con otra bandeja; los mensajes en espera irán allí.",
      chatwoot_unreadable:
        "La respuesta no vino de Chatwoot. El gateway envía de nuevo los mensajes en espera. Si continúa, revisa la dirección.",
    },
    lastError: "Último problema",
    pastError: "Último problema, ya superado",
    lastSuccess: "Último éxito <when></when>.",
    pausedChats: "Chats con demasiadas respuestas",
    pausedChatsHelp:
      "Allí las respuestas automáticas hacen una pausa. Guardar la integración termina estas pausas.",
    before: "Primero, en {name}",
    guide: "Guía de {name}",
    switchOff: "Pausar",
    switchOn: "Reanudar",
    switchedOff: "{name} está apagado",
    switchedOn: "{name} está encendido",
    deleteTitle: "¿Quitar {name}?",
    deleteConfirm: "Quitar la integración",
    removed: "{name} está quitado",
    groups: { connection: "Conexión", behaviour: "Comportamiento", limits: "Tiempos y casos especiales" },
    save: "Guardar {name}",
    saving: "Comprobando y guardando",
    saved: "{name} está guardado",
    warnings: "Guardado, pero mira esto",
    test: {
      title: "Prueba",
      n8n: "Inicia el flujo una vez con un evento marcado como prueba. Nada se envía a un chat.",
      typebot: "Pide al bot una sesión sin ejecutar su flujo.",
      chatwoot: "Comprueba el token, la bandeja de entrada y su webhook, y no cambia nada.",
      run: "Probar {name}",
      running: "Esperando la respuesta",
      ok: "{name} funciona",
      failed: "{name} aún no funciona",
      answered: "{name} respondió con el estado {status} en {duration} ms.",
      unanswered: "{name} no respondió.",
      details: "Detalles de la respuesta",
    },
    n8n: {
      purpose: "Un flujo empieza con cada mensaje u otro evento, y puede responder.",
      deleteHelp:
        "El flujo no recibe más eventos, y los que esperan se descartan. El token se olvida. El flujo en n8n permanece.",
      steps: {
        one: "Importa el flujo listo de la guía, o añade un nodo Webhook con el método POST.",
        two: "Escribe el secreto de webhook de la instancia en el nodo Settings y activa el flujo.",
        three: "Copia la URL de producción del nodo Webhook en el formulario de abajo.",
      },
      fields: {
        ...replyLimit,
        webhook_url: {
          label: "URL de producción del flujo",
          hint: "Del nodo Webhook; contiene /webhook/, no /webhook-test/.",
        },
        auth: {
          label: "Cómo reconoce n8n al gateway",
          hint: "Como dice Authentication en el nodo Webhook. Sin ello, quien conoce la dirección puede iniciar el flujo.",
        },
        token: {
          label: "Token",
          hint: "Lo que espera la credencial en n8n. Para Basic Auth escribe usuario:contraseña. Un token guardado se muestra oculto; déjalo para conservarlo.",
        },
        header_name: { label: "Nombre de la cabecera", hint: "El Name de la credencial Header Auth." },
        reply_mode: {
          label: "Cómo responde el flujo",
          hint: "Su respuesta puede ir directa al chat; entonces Respond del nodo Webhook señala un nodo posterior.",
        },
        events: { label: "Eventos", hint: "Lo que inicia el flujo. Sin elección, nada lo inicia." },
        include_from_me: {
          label: "También los mensajes que envía la instancia",
          hint: "Sin esto el flujo solo ve lo que escriben otros.",
        },
        include_groups: {
          label: "También los mensajes en grupos",
          hint: "Sin esto, solo chats con una persona.",
        },
        media: {
          label: "Archivos de los mensajes",
          hint: "Los enlaces no necesitan clave y valen siete días.",
        },
        timeout_ms: {
          label: "Espera máxima de la respuesta, en milisegundos",
          hint: "De 1.000 a 60.000. Vacío: 10.000, o 60.000 si la respuesta va al chat.",
        },
        retry: {
          label: "Repetir lo que falló",
          hint: "Sin esto, un evento se pierde si n8n no lo toma la primera vez.",
        },
      },
      choices: {
        auth: {
          none: "De ninguna manera",
          bearer: "Authorization: Bearer y el token",
          header: "El token en una cabecera propia",
          basic: "Basic Auth con usuario y contraseña",
          jwt: "Un JWT firmado",
        },
        reply_mode: { none: "Por la API, o no responde", response: "Su respuesta se envía al chat" },
        media: { url: "Como enlace", base64: "También en el evento, hasta 5 MB", none: "Sin ellos" },
      },
    },
    typebot: {
      purpose: "Un bot lleva diálogos: preguntas, opciones y formularios.",
      deleteHelp:
        "El bot ya no responde, sus diálogos abiertos en todos los chats terminan, y los mensajes que esperan se descartan. El bot en Typebot permanece.",
      steps: {
        one: "Crea un flujo con una burbuja de texto y una entrada de texto.",
        two: "Pulsa Publish y abre después Share.",
        three:
          "La parte de la dirección antes de la última barra es el visor, la parte de después es el bot.",
      },
      fields: {
        ...replyLimit,
        base_url: {
          label: "Dirección del visor",
          hint: "Donde los visitantes hablan con el bot, por ejemplo https://bot.example.com. No es el editor.",
        },
        public_id: {
          label: "Id público del bot",
          hint: "La última parte de su dirección, por ejemplo my-shop-x1y2z3.",
        },
        api_token: {
          label: "Token de API",
          hint: "Solo si el visor lo pide. Un token guardado se muestra oculto; déjalo para conservarlo.",
        },
        trigger: { label: "Qué inicia el bot", hint: "Los demás mensajes del diálogo siempre le llegan." },
        trigger_operator: {
          label: "Cómo se compara la palabra",
          hint: "Una expresión tiene la sintaxis RE2.",
        },
        trigger_value: {
          label: "Palabra o expresión",
          hint: "Lo que escribe una persona para iniciar el bot.",
        },
        stop_keywords: {
          label: "Palabras que terminan el diálogo",
          hint: "Una por línea. Mayúsculas y acentos no importan.",
        },
        restart_keywords: {
          label: "Palabras que lo reinician",
          hint: "Una por línea. Mayúsculas y acentos no importan.",
        },
        goodbye_message: {
          label: "Palabras al final",
          hint: "Se envían cuando una persona termina el diálogo. Vacío: nada.",
        },
        unsupported_message: {
          label: "Respuesta a un archivo que el bot no usa",
          hint: "Por ejemplo una foto cuando pide un texto. Vacío: ninguna respuesta.",
        },
        ignore_groups: { label: "Callar en grupos", hint: "El bot responde solo en chats con una persona." },
        ignore_jids: { label: "Chats sin el bot", hint: "Números o direcciones, uno por línea." },
        pause_on_human_minutes: {
          label: "Silencio después de que responde una persona, en minutos",
          hint: "Desde el teléfono, el panel o una bandeja. 0: el bot sigue.",
        },
        typing_presence: {
          label: "Mostrar que escribe",
          hint: "El contacto ve que el bot está escribiendo.",
        },
        variables: {
          label: "Variables del flujo",
          hint: "Una por línea, «nombre = valor». Número, nombre y chat del contacto se rellenan de todos modos.",
        },
        session_expiry_minutes: {
          label: "Un diálogo caduca tras, en minutos",
          hint: "Sin mensajes durante este tiempo, el flujo empieza de nuevo.",
        },
        on_end: { label: "Tras el final del flujo", hint: "Lo que hace el siguiente mensaje de la persona." },
        keep_closed_for_minutes: {
          label: "Quedar cerrado, en minutos",
          hint: "Después un mensaje inicia el flujo de nuevo.",
        },
        debounce_ms: {
          label: "Unir mensajes rápidos, en milisegundos",
          hint: "Espera hasta que la persona para durante este tiempo. 0: cada mensaje cuenta solo.",
        },
        min_delay_ms: {
          label: "Tiempo mínimo escribiendo, en milisegundos",
          hint: "Antes de cada mensaje del bot. No más que el máximo.",
        },
        max_delay_ms: { label: "Tiempo máximo escribiendo, en milisegundos", hint: "60.000 como máximo." },
        max_wait_seconds: {
          label: "Bloque de espera más largo, en segundos",
          hint: "Una espera del flujo se corta aquí. 120 como máximo.",
        },
      },
      choices: {
        trigger: { all: "Cada mensaje", keyword: "Ciertas palabras" },
        trigger_operator: {
          equals: "El mensaje es la palabra",
          contains: "El mensaje la contiene",
          startsWith: "El mensaje empieza con ella",
          regex: "Una expresión",
        },
        on_end: { close: "Inicia el flujo de nuevo", keep_closed: "Nada, durante un tiempo" },
      },
    },
    chatwoot: {
      purpose: "Un equipo responde en una bandeja común, con asignación, notas e historial.",
      deleteHelp:
        "Los mensajes ya no entran en la bandeja, las respuestas de los agentes ya no salen, y lo que espera se descarta. El gateway quita su webhook de Chatwoot. La bandeja y sus conversaciones permanecen.",
      steps: {
        one: "Añade una bandeja del tipo API, deja vacío su webhook y añade a tus agentes.",
        two: "Abre tu perfil como administrador y copia el token de acceso.",
        three:
          "La dirección de los ajustes de la bandeja muestra ambos números: accounts/2/settings/inboxes/7.",
      },
      fields: {
        url: { label: "Dirección de Chatwoot", hint: "Por ejemplo https://chat.example.com." },
        access_token: {
          label: "Token de acceso de un administrador",
          hint: "Del perfil en Chatwoot. Un token guardado se muestra oculto; déjalo para conservarlo.",
        },
        account_id: {
          label: "Número de la cuenta",
          hint: "Después de /accounts/ en la dirección de Chatwoot.",
        },
        auto_create: {
          label: "Crear una bandeja para mí",
          hint: "Una vez. Si no, escribe el número de una bandeja que existe.",
        },
        inbox_id: {
          label: "Número de la bandeja",
          hint: "Después de /inboxes/ en la dirección de sus ajustes.",
        },
        inbox_name: { label: "Nombre de la bandeja nueva", hint: "Los agentes lo ven." },
        force: {
          label: "Tomar la bandeja de otro gateway",
          hint: "Sustituye el webhook que la bandeja tiene ahora. Vale solo para este guardado.",
        },
        sent_from_phone: {
          label: "Mensajes escritos en el teléfono",
          hint: "Cómo aparecen en la conversación.",
        },
        reopen_conversation: {
          label: "Un mensaje nuevo reabre la conversación anterior",
          hint: "Sin esto empieza otra cuando la anterior está resuelta.",
        },
        conversation_status: {
          label: "Una conversación nueva está",
          hint: "Las pendientes esperan a un bot o una regla.",
        },
        sign_messages: { label: "Firmar con el nombre del agente", hint: "En negrita antes del texto." },
        signature_delimiter: {
          label: "Entre el nombre y el texto",
          hint: "\\n es un salto de línea.",
        },
        sync_status: { label: "Mostrar cuándo un mensaje llega y se lee", hint: "Desde Chatwoot 4.2." },
        mark_read: {
          label: "Una respuesta marca los mensajes como leídos",
          hint: "El contacto ve las marcas azules cuando responde un agente.",
        },
        typing: { label: "Mostrar que escribe", hint: "El contacto ve que un agente está escribiendo." },
        groups: { label: "También los mensajes en grupos", hint: "Cada grupo es un contacto." },
        ignore_jids: { label: "Chats que quedan fuera", hint: "Números o direcciones, uno por línea." },
        keep_deleted: {
          label: "Conservar mensajes borrados",
          hint: "Un mensaje borrado en WhatsApp queda en Chatwoot, con una nota.",
        },
        merge_brazil_contacts: {
          label: "Unir contactos de Brasil",
          hint: "Une los contactos con y sin el noveno dígito.",
        },
        all_audio_as_voice: {
          label: "Enviar todo el audio como nota de voz",
          hint: "No solo las grabaciones de los agentes.",
        },
        files_from_url: {
          label: "Buscar los adjuntos en la dirección de arriba",
          hint: "Si Chatwoot da una dirección suya que el gateway no alcanza.",
        },
      },
      choices: {
        sent_from_phone: {
          message: "Como mensajes",
          private_note: "Como notas privadas",
          off: "No aparecen",
        },
        conversation_status: { open: "Abierta", pending: "Pendiente" },
      },
    },
  },
} as const;
