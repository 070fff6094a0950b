export const shell = {
  shell: {
    navigation: "Principal",
    instances: "Instancias",
    settings: "Ajustes",
    instanceNavigation: "Páginas de {name}",
    overview: "Resumen",
    logs: "Registros",
    instanceSettings: "Ajustes",
    more: "Más",
  },
} as const;
