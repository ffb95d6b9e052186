/** Checks a list of leaked passwords. False also if no list is configured or it does not respond. */
export type BreachedPasswords = (password: string) => Promise<boolean>
