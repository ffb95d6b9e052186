import net from 'node:net'

export type RawAnswer = { status: number; headers: Record<string, string>; body: string }
export type Conversation = {
  answers: RawAnswer[]
  /** True if the service closed the connection. */
  closed: boolean
}

/**
 * Opens a connection, writes bytes that no HTTP client would send, and reads the responses until the service closes the connection.
 *
 * @param bytes if an array, each part is written after the service has sent data in response to the previous one.
 * @param patience milliseconds without data after which the connection counts as kept open. It is less than the time after which the service
 *   closes idle connections.
 */
export function converse(port: number, bytes: string | Buffer | string[], { patience = 20_000 } = {}): Promise<Conversation> {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    const chunks: Buffer[] = []
    const parts = [bytes].flat()
    const writeNext = () => {
      const part = parts.shift()
      if (part !== undefined) socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part)
    }
    const settle = (closed: boolean) => {
      socket.destroy()
      resolve({ answers: readAnswers(Buffer.concat(chunks)), closed })
    }
    socket.setTimeout(patience, () => settle(false))
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      writeNext()
    })
    socket.on('error', () => settle(true)) // the service closed the connection during a write
    socket.on('close', () => settle(true))
    socket.on('end', () => socket.once('error', () => {}).end())
    writeNext()
  })
}

/** Parses responses with a Content-Length, which all of the service's have. @throws Error for any other data. */
export function readAnswers(bytes: Buffer): RawAnswer[] {
  if (bytes.length === 0) return []
  const end = bytes.indexOf('\r\n\r\n')
  const [first = '', ...lines] = bytes.subarray(0, Math.max(0, end)).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) \S/.exec(first)?.[1])
  const headers = Object.fromEntries(
    lines.map((line) => [line.split(': ')[0]!.toLowerCase(), line.slice(line.indexOf(': ') + 2)]),
  )
  const length = Number(headers['content-length'])
  if (end < 0 || !status || !Number.isInteger(length)) throw new Error(`No answer of HTTP: ${bytes.toString('latin1')}`)
  const body = bytes.subarray(end + 4, end + 4 + length)
  if (body.length < length) throw new Error(`An answer cut short: ${bytes.toString('latin1')}`)
  return [{ status, headers, body: body.toString() }, ...readAnswers(bytes.subarray(end + 4 + length))]
}
