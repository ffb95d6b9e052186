import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionError } from 'fastify'
import type { FailureKind } from './failure.ts'

/** HTTP response that is written to a socket without Fastify. */
export type RawResponse = { status: number; headers: Record<string, string>; body: string }

const kinds: Record<string, FailureKind> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}
/** Incoming data is discarded for so long. Closing the socket at once could reset it before the client reads the answer. */
const LINGER_MS = 1_000

/**
 * Answers malformed or incomplete requests in the envelope of their path, then closes the connection. Complete requests that came before on
 * the connection are answered first, and no request is answered twice. Otherwise a client, or a proxy with several clients, would assign an
 * answer to the wrong request.
 *
 * @param present creates the answer for a path. The path is empty if it could not be read.
 * @param report is called for each answer with its status and Node's error code.
 * @returns `answer` for Fastify's clientErrorHandler, and `watch` for its server.
 */
export function answerClientErrors(
  present: (path: string, kind: FailureKind) => RawResponse,
  report: (status: number, code: string) => void,
) {
  const openReplies = new WeakMap<Socket, Set<ServerResponse>>()
  const latest = new WeakMap<Socket, ServerResponse>()
  const refusedSockets = new WeakSet<Socket>()

  const track = ({ socket }: IncomingMessage, reply: ServerResponse) => {
    const replies = openReplies.get(socket) ?? new Set()
    openReplies.set(socket, replies.add(reply))
    latest.set(socket, reply)
    reply.once('close', () => replies.delete(reply))
  }

  const refuse = (error: ConnectionError, socket: Socket) => {
    const reply = latest.get(socket)
    // The rest of a request that was answered before its body had arrived.
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
      server.on('request', track)
      // Ignores `Expect` values other than 100-continue. Without this listener Node answers 417 without a body.
      server.on('checkExpectation', (request, reply) => server.emit('request', request, reply))
    },
    answer(error: ConnectionError, socket: Socket): void {
      if (refusedSockets.has(socket)) return
      refusedSockets.add(socket)
      if (error.code === 'ECONNRESET' || !socket.writable) {
        socket.destroy()
        return
      }
      const earlier = [...(openReplies.get(socket) ?? [])].findLast(({ req }) => req.complete)
      if (earlier) earlier.once('close', () => refuse(error, socket))
      else refuse(error, socket)
    },
  }
}

/** Path of the last request line, as far as it arrived; empty if there is none. */
function readPath({ rawPacket, bytesParsed }: ConnectionError): string {
  const packet = rawPacket as unknown as Buffer | undefined // undefined after a timeout
  const text = packet?.subarray(0, bytesParsed).toString('latin1') ?? ''
  const lines = text.match(/^[A-Z]+ \/\S*/gm) ?? []
  return lines.at(-1)?.replace(/^\S+ /, '') ?? ''
}

function write({ status, headers, body }: RawResponse): string {
  const fields = {
    ...headers,
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    connection: 'close',
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`
}
