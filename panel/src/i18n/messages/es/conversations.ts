export const conversations = {
  conversations: {
    title: "Conversaciones",
  },
} as const;
