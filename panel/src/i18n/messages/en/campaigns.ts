export const campaigns = {
  campaigns: {
    title: "Campaigns",
  },
} as const;
