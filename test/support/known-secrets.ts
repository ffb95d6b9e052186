/** Default secret key of services in tests. */
export const SECRET_KEY = 'a secret that is only good for tests 0123456789'

/** Password of all members in tests. */
export const PASSWORD = 'correct horse battery'
