export const home = {
  home: {
    title: "Início",
  },
} as const;
