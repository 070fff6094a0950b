export const webhooks = {
  webhooks: {
    title: "Webhooks",
  },
} as const;
