export const integrations = {
  integrations: {
    title: "Integrações",
  },
} as const;
