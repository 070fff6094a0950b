export const account = {
  account: {
    title: "Conta",
  },
} as const;
