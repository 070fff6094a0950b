export const shell = {
  shell: {
    navigation: "Main",
    instances: "Instances",
    settings: "Settings",
    instanceNavigation: "Pages of {name}",
    overview: "Overview",
    logs: "Logs",
    instanceSettings: "Settings",
    more: "More",
  },
} as const;
