export const campaigns = {
  campaigns: {
    title: "Campañas",
  },
} as const;
