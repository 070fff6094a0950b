export const crm = {
  crm: {
    title: "Contactos",
  },
} as const;
