/** Names with a dot in them, and a port where it is not 443. */
const HOST = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9](:[1-9]\d{0,4})?$/
const MAX_LENGTH = 260

/** True for a valid host name. */
export const isReturnHost = (host: string): boolean => host.length <= MAX_LENGTH && HOST.test(host)
