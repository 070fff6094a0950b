export const entry = {
  signIn: {
    title: "Sign in",
    email: "E-mail",
    password: "Password",
    submit: "Sign in",
    help: "The first start of the gateway printed a link, an e-mail and a password in its terminal.",
    wrong: "The e-mail or the password is wrong.",
    tooMany: "Too many attempts. Try again in {seconds, plural, one {# second} other {# seconds}}.",
    restricted: "This account is paused or blocked. Ask the operator of the gateway.",
    signedOut: "You were signed out. Sign in to go on.",
    inMemory:
      "This page came without HTTPS. Your browser therefore keeps no session: a reload signs you out.",
  },
  welcome: {
    title: "Welcome",
    lead: "Choose the password of the owner. You are then signed in, and create the first instance.",
    email: "E-mail for later sign-ins",
    password: "New password",
    rule: "At least 12 characters, not a common password. Several unrelated words work well.",
    submit: "Set the password",
    weak: "This password is too easy to guess. Choose a longer one, for example of several unrelated words.",
    reason: "The gateway says: the password {reason}.",
    missing: "This page opens by the link that the start of the gateway prints in its terminal.",
    invalid:
      "This link does not work any more: it has been used, is older than 24 hours, or somebody has signed in.",
    another: "If you have no password yet, restart the gateway: it prints a new link.",
    signIn: "Sign in",
  },
} as const;
