export const entry = {
  signIn: {
    title: "Iniciar sesión",
    email: "Correo electrónico",
    password: "Contraseña",
    submit: "Iniciar sesión",
    help: "El primer arranque del gateway mostró un enlace, un correo y una contraseña en su terminal.",
    wrong: "El correo o la contraseña no es correcto.",
    tooMany: "Demasiados intentos. Reintenta en {seconds, plural, one {# segundo} other {# segundos}}.",
    restricted: "Esta cuenta está pausada o bloqueada. Habla con quien opera el gateway.",
    signedOut: "Tu sesión terminó. Inicia sesión para continuar.",
    inMemory:
      "Esta página llegó sin HTTPS. Por eso tu navegador no guarda la sesión: al recargar tendrás que iniciarla otra vez.",
  },
  welcome: {
    title: "Te damos la bienvenida",
    lead: "Elige la contraseña de la cuenta propietaria. Después entras y creas la primera instancia.",
    email: "Correo para iniciar sesión más adelante",
    password: "Contraseña nueva",
    rule: "Al menos 12 caracteres y que no sea una contraseña común. Varias palabras sin relación funcionan bien.",
    submit: "Guardar la contraseña",
    weak: "Esta contraseña es fácil de adivinar. Elige una más larga, por ejemplo de varias palabras sin relación.",
    reason: "El gateway dice en inglés: the password {reason}.",
    missing: "Esta página se abre con el enlace que el gateway muestra en su terminal al arrancar.",
    invalid: "Este enlace ya no sirve: ya se usó, tiene más de 24 horas o alguien inició sesión.",
    another: "Si todavía no tienes contraseña, reinicia el gateway: mostrará un enlace nuevo.",
    signIn: "Iniciar sesión",
  },
} as const;
