import net from 'node:net'

export type RawAnswer = { status: number; headers: Record<string, string>; body: string }
export type Conversation = {
  answers: RawAnswer[]
  /** True if the service closed the connection. */
  closed: boolean
}

/**
 * Writes bytes to a connection of its own, as no client library would, and reads what comes back until the service closes it.
 *
 * @param bytes several parts: each after the service has said something to the one before.
 * @param patience milliseconds without a word after which the connection counts as kept open: fewer than after which the service closes
 *   every connection.
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
    socket.on('error', () => settle(true)) // closed while we were still writing
    socket.on('close', () => settle(true))
    socket.on('end', () => socket.once('error', () => {}).end())
    writeNext()
  })
}

/** Reads answers that carry a length: all that the service gives. @throws Error for anything else. */
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
