import type { IncomingMessage } from 'node:http'

const ACCEPTED = /^[\w.-]{1,64}$/

/** The client's own X-Request-Id when it is harmless in a log line, else a new one. */
export const requestId =
  (newId: () => string) =>
  ({ headers }: Pick<IncomingMessage, 'headers'>): string => {
    const given = headers['x-request-id']
    return typeof given === 'string' && ACCEPTED.test(given) ? given : newId()
  }
