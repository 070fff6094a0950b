export const settings = {
  settings: {
    title: "Ajustes",
    lead: "Valem apenas para este navegador.",
    language: "Idioma",
    theme: "Cores",
    themes: { system: "Como no aparelho", light: "Claras", dark: "Escuras" },
    account: "Seu acesso",
    name: "Nome",
    email: "E-mail",
    accountName: "Conta",
    role: "Papel",
    roles: { super_admin: "Dono do gateway", admin: "Administrador", agent: "Atendente" },
    signOut: "Sair",
  },
} as const;
