import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { addCleanup } from './endings.ts'
import { waitUntil } from './wait-until.ts'

/** A received message. */
export type Received = {
  /** The header `webhook-id`. */
  id: string
  method: string
  path: string
  headers: Record<string, string>
  body: string
  // biome-ignore lint/suspicious/noExplicitAny: an event of any type
  event: any
}

export type Receiver = {
  url: string
  port: number
  /** All messages so far, in order of arrival. */
  received: Received[]
  /** Number of accepted connections. */
  connections: () => number
  /** Waits until this many messages have arrived. */
  waitFor: (count: number) => Promise<Received[]>
  /** Changes the responses to further messages. */
  behave: (answer: Behavior) => void
  /** Closes all open connections. */
  closeConnections: () => void
  close: () => Promise<void>
}

/** Handler of a receiver. One that never ends the response hangs. */
export type Behavior = (response: ServerResponse, message: Received, request: IncomingMessage) => void

export const answerWith =
  (status: number, headers: Record<string, string> = {}, body = ''): Behavior =>
  (response) =>
    void response.writeHead(status, headers).end(body)
/** Accepts the message, but never responds. */
export const hang: Behavior = () => {}

/** Starts a webhook receiver on loopback, which responds with 204 by default. It stops with the test or the file. */
export async function startReceiver(
  behavior = answerWith(204),
  tls?: { key: string; cert: string },
  keepBody: (body: Buffer) => void = () => {},
): Promise<Receiver> {
  const received: Received[] = []
  let answer = behavior
  let connections = 0
  const listen = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const message = readMessage(request, body.toString('utf8'))
    keepBody(body)
    received.push(message)
    answer(response, message, request)
  }
  const server = tls ? createSecureServer(tls, listen) : createServer(listen)
  server.on('connection', () => connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async () => {
    if (!server.listening) return
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  addCleanup(close)
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    port,
    received,
    connections: () => connections,
    waitFor: (count) => waitUntil(`${count} messages`, () => (received.length >= count ? received : undefined)),
    behave: (next) => {
      answer = next
    },
    closeConnections: () => server.closeAllConnections(),
    close,
  }
}

const readMessage = ({ method, url, headers }: IncomingMessage, body: string): Received => ({
  id: String(headers['webhook-id']),
  method: method!,
  path: url!,
  headers: headers as Record<string, string>,
  body,
  event: body.startsWith('{') ? JSON.parse(body) : undefined,
})

/** Verifies a message like a receiver with this secret, by the real time. @throws Error for an invalid signature. */
export const verify = (secret: string, { body, headers }: Received): unknown => new Webhook(secret).verify(body, headers)
