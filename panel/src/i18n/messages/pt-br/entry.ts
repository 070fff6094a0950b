export const entry = {
  signIn: {
    title: "Entrar",
    email: "E-mail",
    password: "Senha",
    submit: "Entrar",
    help: "Na primeira vez, o gateway mostrou um link, um e-mail e uma senha no terminal.",
    wrong: "O e-mail ou a senha está errado.",
    tooMany: "Tentativas demais. Tente de novo em {seconds, plural, one {# segundo} other {# segundos}}.",
    restricted: "Esta conta está pausada ou bloqueada. Fale com quem opera o gateway.",
    signedOut: "Sua sessão terminou. Entre para continuar.",
    inMemory:
      "Esta página veio sem HTTPS. Por isso o navegador não guarda a sessão: ao recarregar, você precisa entrar de novo.",
  },
  welcome: {
    title: "Boas-vindas",
    lead: "Escolha a senha da conta proprietária. Depois você já entra e cria a primeira instância.",
    email: "E-mail para entrar depois",
    password: "Nova senha",
    rule: "Pelo menos 12 caracteres, e não uma senha comum. Várias palavras sem relação funcionam bem.",
    submit: "Salvar a senha",
    weak: "Esta senha é fácil de adivinhar. Escolha uma mais longa, por exemplo com várias palavras sem relação.",
    reason: "O gateway diz em inglês: the password {reason}.",
    missing: "Esta página abre pelo link que o gateway mostra no terminal ao iniciar.",
    invalid: "Este link não vale mais: já foi usado, tem mais de 24 horas ou alguém já entrou.",
    another: "Se você ainda não tem uma senha, reinicie o gateway: ele mostra um novo link.",
    signIn: "Entrar",
  },
} as const;
