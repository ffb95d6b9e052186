import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type LosingProxy = {
  origin: string
  /** Method and path of requests whose responses were dropped. */
  lost: string[]
  close: () => void
}

type Choices = {
  /** Returns true for responses to drop in addition to every third. */
  alsoLose?: (asked: string, before: number) => boolean
  /** Responses that the proxy sends itself, by path. */
  files?: Record<string, { type: string; content: Buffer }>
}

/**
 * Starts a proxy that loses every third response to a page's script: the service has done its work, and the connection breaks before the
 * browser gets the response.
 *
 * @param port of the service, on loopback.
 */
export async function startLosingProxy(port: number, { alsoLose = () => false, files = {} }: Choices): Promise<LosingProxy> {
  const lost: string[] = []
  const asked = new Map<string, number>()
  let answers = 0
  const isLost = (incoming: IncomingMessage): boolean => {
    if (incoming.headers['sec-fetch-dest'] !== 'empty') return false
    const what = `${incoming.method} ${incoming.url}`
    const before = asked.get(what) ?? 0
    asked.set(what, before + 1)
    answers++
    return answers % 3 === 0 || alsoLose(what, before)
  }
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { method, url, headers } = incoming
    const isGone = isLost(incoming)
    const upstream = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
      if (!isGone) {
        outgoing.writeHead(answer.statusCode!, { ...answer.headers, connection: 'close' })
        answer.pipe(outgoing)
        return
      }
      lost.push(`${method} ${url}`)
      answer.resume().on('end', () => incoming.socket.destroy())
    })
    upstream.on('error', () => incoming.socket.destroy())
    incoming.pipe(upstream)
  }
  const server = createServer((incoming, outgoing) => {
    const file = files[incoming.url ?? '']
    if (file) outgoing.writeHead(200, { 'content-type': file.type, 'content-length': file.content.length }).end(file.content)
    else pass(incoming, outgoing)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lost,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
