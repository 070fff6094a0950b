export const crm = {
  crm: {
    title: "Contatos",
  },
} as const;
