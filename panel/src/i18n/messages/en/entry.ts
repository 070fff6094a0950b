export const entry = {
  signIn: {
    title: "Sign in",
    email: "E-mail",
    password: "Password",
    submit: "Sign in",
    help: "The first start of the gateway printed an e-mail and a password in its terminal.",
    wrong: "The e-mail or the password is wrong.",
    tooMany: "Too many attempts. Try again in {seconds, plural, one {# second} other {# seconds}}.",
    restricted: "This account is paused or blocked. Ask the operator of the gateway.",
    signedOut: "You were signed out. Sign in to go on.",
  },
} as const;
