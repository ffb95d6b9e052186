import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionError } from 'fastify'
import type { FailureKind } from './failure.ts'

/** An answer to what never became a request. */
export type RawAnswer = { status: number; headers: Record<string, string>; body: string }

const kinds: Record<string, FailureKind> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}
/** What is still being sent is taken and thrown away for so long: a connection closed at once would take the answer with it. */
const LINGER_MS = 1_000

/**
 * Answers what is not HTTP, or not whole, in the envelope of those whose path it begins with; then the connection is closed. Never
 * out of turn: a request that came whole before it is answered first, and none is answered twice, or its client, or a proxy with
 * several clients, would take one answer for another.
 *
 * @param present the answer to a path, which is empty where none could be read.
 * @param report told of each answer given so, with Node's code of what was wrong.
 * @returns `answer` for Fastify's clientErrorHandler, and `watch` for the server it belongs to.
 */
export function answerClientErrors(
  present: (path: string, kind: FailureKind) => RawAnswer,
  report: (status: number, code: string) => void,
) {
  const underWay = new WeakMap<Socket, Set<ServerResponse>>()
  const latest = new WeakMap<Socket, ServerResponse>()
  const refused = new WeakSet<Socket>()

  const note = ({ socket }: IncomingMessage, reply: ServerResponse) => {
    const replies = underWay.get(socket) ?? new Set()
    underWay.set(socket, replies.add(reply))
    latest.set(socket, reply)
    reply.once('close', () => replies.delete(reply))
  }

  const refuse = (error: ConnectionError, socket: Socket) => {
    const reply = latest.get(socket)
    // Part of a request that has been answered already, unread: there is nothing left to say.
    const isAnswered = reply !== undefined && !reply.req.complete && reply.headersSent
    if (isAnswered) socket.end()
    else if (socket.writable) {
      const answer = present(readPath(error), kinds[error.code] ?? 'malformed_request')
      socket.end(write(answer))
      report(answer.status, error.code)
    }
    const end = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once('close', () => clearTimeout(end))
  }

  return {
    watch(server: Server): void {
      server.on('request', note)
      // What a client expects beyond 100-continue we don't know, and need not: without this it would be refused without a word.
      server.on('checkExpectation', (request, reply) => server.emit('request', request, reply))
    },
    answer(error: ConnectionError, socket: Socket): void {
      if (refused.has(socket)) return
      refused.add(socket)
      if (error.code === 'ECONNRESET' || !socket.writable) {
        socket.destroy()
        return
      }
      const before = [...(underWay.get(socket) ?? [])].findLast(({ req }) => req.complete)
      if (before) before.once('close', () => refuse(error, socket))
      else refuse(error, socket)
    },
  }
}

/** The path of the last request line that was read, as far as it came; empty when there is none. */
function readPath({ rawPacket, bytesParsed }: ConnectionError): string {
  const packet = rawPacket as unknown as Buffer | undefined // none when time ran out
  const text = packet?.subarray(0, bytesParsed).toString('latin1') ?? ''
  const lines = text.match(/^[A-Z]+ \/\S*/gm) ?? []
  return lines.at(-1)?.replace(/^\S+ /, '') ?? ''
}

function write({ status, headers, body }: RawAnswer): string {
  const fields = {
    ...headers,
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    connection: 'close',
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`
}
