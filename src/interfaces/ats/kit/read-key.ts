/**
 * The key that a call carries. An ATS may send it as the user name of Basic with an empty password, some libraries can do that only with a
 * password, and some send a Bearer token.
 *
 * @returns undefined where there is none.
 */
export function readKey(authorization: string | undefined): string | undefined {
  const [, scheme = '', value = ''] = /^(\w+) +(\S+) *$/.exec(authorization ?? '') ?? []
  if (/^bearer$/i.test(scheme)) return value
  if (!/^basic$/i.test(scheme)) return undefined
  const [user = '', ...password] = Buffer.from(value, 'base64').toString('utf8').split(':')
  return user || password.join(':') || undefined
}
