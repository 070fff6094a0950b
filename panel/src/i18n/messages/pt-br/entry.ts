export const entry = {
  signIn: {
    title: "Entrar",
    email: "E-mail",
    password: "Senha",
    submit: "Entrar",
    help: "Na primeira vez, o gateway mostrou um e-mail e uma senha no terminal.",
    wrong: "O e-mail ou a senha está errado.",
    tooMany: "Tentativas demais. Tente de novo em {seconds, plural, one {# segundo} other {# segundos}}.",
    restricted: "Esta conta está pausada ou bloqueada. Fale com quem opera o gateway.",
    signedOut: "Sua sessão terminou. Entre para continuar.",
  },
} as const;
