/** Keys, and prefixes without their last slash: nothing that a file system would read as a way out. */
const KEY = /^[a-z0-9-]+(\/[a-z0-9-]+)*$/

/** @throws Error for what can not be a key. Keys are the service's own: it would be a mistake of ours. */
export function checkKey(key: string): string {
  if (!KEY.test(key)) throw new Error('This can not be a key of the media store')
  return key
}

/** @throws Error for what can not be the beginning of keys, which ends with a slash. */
export function checkPrefix(prefix: string): string {
  if (!prefix.endsWith('/')) throw new Error('A prefix of the media store ends with a slash')
  checkKey(prefix.slice(0, -1))
  return prefix
}
