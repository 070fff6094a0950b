export const entry = {
  signIn: {
    title: "Iniciar sesión",
    email: "Correo electrónico",
    password: "Contraseña",
    submit: "Iniciar sesión",
    help: "El primer arranque del gateway mostró un correo y una contraseña en su terminal.",
    wrong: "El correo o la contraseña no es correcto.",
    tooMany: "Demasiados intentos. Reintenta en {seconds, plural, one {# segundo} other {# segundos}}.",
    restricted: "Esta cuenta está pausada o bloqueada. Habla con quien opera el gateway.",
    signedOut: "Tu sesión terminó. Inicia sesión para continuar.",
  },
} as const;
