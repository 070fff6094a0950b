export const administration = {
  administration: {
    title: "Administration",
  },
} as const;
