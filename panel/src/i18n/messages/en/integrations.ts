export const integrations = {
  integrations: {
    title: "Integrations",
  },
} as const;
