import type { IncomingMessage } from 'node:http'

const ACCEPTED = /^(?!.*ak_(live|test)_)[\w.-]{1,64}$/

/** Accepts the client's X-Request-Id if it is safe in a log line and contains no API key; else creates one. */
export const requestId =
  (newId: () => string) =>
  ({ headers }: Pick<IncomingMessage, 'headers'>): string => {
    const sentId = headers['x-request-id']
    return typeof sentId === 'string' && ACCEPTED.test(sentId) ? sentId : newId()
  }
