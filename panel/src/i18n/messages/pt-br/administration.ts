export const administration = {
  administration: {
    title: "Administração",
  },
} as const;
