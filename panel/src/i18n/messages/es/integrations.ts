export const integrations = {
  integrations: {
    title: "Integraciones",
  },
} as const;
