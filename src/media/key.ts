/** Keys and prefixes have no dots, so they can't leave the folder. */
const KEY = /^[a-z0-9-]+(\/[a-z0-9-]+)*$/

/** @throws Error for an invalid key, which is a bug: keys are generated. */
export function checkKey(key: string): string {
  if (!KEY.test(key)) throw new Error('This can not be a key of the media store')
  return key
}

/** @throws Error for an invalid prefix. Prefixes end with a slash. */
export function checkPrefix(prefix: string): string {
  if (!prefix.endsWith('/')) throw new Error('A prefix of the media store ends with a slash')
  checkKey(prefix.slice(0, -1))
  return prefix
}
