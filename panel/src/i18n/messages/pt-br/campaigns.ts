export const campaigns = {
  campaigns: {
    title: "Campanhas",
  },
} as const;
