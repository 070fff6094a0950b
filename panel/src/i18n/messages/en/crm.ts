export const crm = {
  crm: {
    title: "Contacts",
  },
} as const;
