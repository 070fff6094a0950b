export const settings = {
  settings: {
    title: "Settings",
    lead: "They apply to this browser only.",
    language: "Language",
    theme: "Colours",
    themes: { system: "As the device", light: "Light", dark: "Dark" },
    account: "Your sign-in",
    name: "Name",
    email: "E-mail",
    accountName: "Account",
    role: "Role",
    roles: { super_admin: "Owner of the gateway", admin: "Administrator", agent: "Agent" },
    signOut: "Sign out",
  },
} as const;
