export const administration = {
  administration: {
    title: "Administración",
  },
} as const;
