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
    notAllowed: "This page is not for you",
    notAllowedRole: "You are signed in as {role}. Ask an administrator of your account to open it for you.",
    notAllowedAccount: {
      admin: "Only administrators may open it.",
      manager: "Only the owner of the gateway and resellers may open it.",
      owner: "Only the owner of the gateway may open it.",
    },
    toStart: "To the first page",
    passwordTitle: "Your password, please",
    passwordHelp: "This needs a password that was given in the last ten minutes.",
    passwordWrong: "The password is wrong.",
    passwordConfirm: "Confirm",
    passwordMissing: "Nothing was changed, because the password was not confirmed.",
    typeToConfirm: "Type {word} to confirm",
    exportCut:
      "The list is longer: the file has its first {count, number} rows. Filter the list to get the others.",
    applyFilter: "Filter: {name}",
  },
} as const;
