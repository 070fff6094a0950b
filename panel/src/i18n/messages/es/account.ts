export const account = {
  account: {
    title: "Cuenta",
  },
} as const;
