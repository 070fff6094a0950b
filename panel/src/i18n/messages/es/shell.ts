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
    notAllowed: "Esta página no es para ti",
    notAllowedRole: "Has entrado como {role}. Pide a un administrador de tu cuenta que la abra por ti.",
    notAllowedAccount: {
      admin: "Solo los administradores pueden abrirla.",
      manager: "Solo el dueño del gateway y los revendedores pueden abrirla.",
      owner: "Solo el dueño del gateway puede abrirla.",
    },
    toStart: "Ir al inicio",
    passwordTitle: "Tu contraseña, por favor",
    passwordHelp: "Esto exige una contraseña dada en los últimos diez minutos.",
    passwordWrong: "La contraseña es incorrecta.",
    passwordConfirm: "Confirmar",
    passwordMissing: "No se cambió nada, porque no se confirmó la contraseña.",
    typeToConfirm: "Escribe {word} para confirmar",
    exportCut:
      "La lista es más larga: el archivo tiene las primeras {count, number} filas. Filtra la lista para obtener las demás.",
    applyFilter: "Filtrar: {name}",
  },
} as const;
