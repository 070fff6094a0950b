export const conversations = {
  conversations: {
    title: "Conversas",
  },
} as const;
