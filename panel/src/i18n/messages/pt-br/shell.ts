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
    notAllowed: "Esta página não é para você",
    notAllowedRole: "Você entrou como {role}. Peça a um administrador da sua conta que a abra por você.",
    notAllowedAccount: {
      admin: "Só administradores podem abri-la.",
      manager: "Só o dono do gateway e revendedores podem abri-la.",
      owner: "Só o dono do gateway pode abri-la.",
    },
    toStart: "Ir para o início",
    passwordTitle: "Sua senha, por favor",
    passwordHelp: "Isto exige uma senha informada nos últimos dez minutos.",
    passwordWrong: "A senha está errada.",
    passwordConfirm: "Confirmar",
    passwordMissing: "Nada foi alterado, porque a senha não foi confirmada.",
    typeToConfirm: "Digite {word} para confirmar",
    exportCut:
      "A lista é maior: o arquivo tem as primeiras {count, number} linhas. Filtre a lista para obter as outras.",
    applyFilter: "Filtrar: {name}",
  },
} as const;
