/** What services of tests sign with, unless one says otherwise. */
export const SECRET_KEY = 'a secret that is only good for tests 0123456789'

/** Of everybody who joins the portal in tests. */
export const PASSWORD = 'correct horse battery'
