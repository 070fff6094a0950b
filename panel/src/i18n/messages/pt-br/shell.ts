export const shell = {
  shell: {
    navigation: "Principal",
    instances: "Instâncias",
    settings: "Ajustes",
    instanceNavigation: "Páginas de {name}",
    overview: "Visão geral",
    logs: "Registros",
    instanceSettings: "Configurações",
    more: "Mais",
  },
} as const;
