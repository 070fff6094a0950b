export const home = {
  home: {
    title: "Inicio",
  },
} as const;
