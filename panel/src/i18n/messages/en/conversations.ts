export const conversations = {
  conversations: {
    title: "Conversations",
  },
} as const;
