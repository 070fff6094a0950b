export const settings = {
  settings: {
    title: "Ajustes",
    lead: "Solo valen para este navegador.",
    language: "Idioma",
    theme: "Colores",
    themes: { system: "Como el dispositivo", light: "Claros", dark: "Oscuros" },
    account: "Tu acceso",
    name: "Nombre",
    email: "Correo electrónico",
    accountName: "Cuenta",
    role: "Rol",
    roles: { super_admin: "Dueño del gateway", admin: "Administrador", agent: "Agente" },
    signOut: "Cerrar sesión",
  },
} as const;
