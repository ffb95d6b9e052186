import { createReadStream } from 'node:fs'
import net from 'node:net'
import { pipeline } from 'node:stream/promises'
import type { ScanFile } from '../domain/submissions/media/join-recording.ts'

// Client of ClamAV's clamd. See its manual page, "COMMANDS".

/** Time without any data from or to the scanner. Unpacking a large archive takes clamd at most two minutes unless configured otherwise. */
const IDLE_MS = 150_000
const PROBE_MS = 5_000
const MAX_ANSWER_BYTES = 10_000

/** @param url `tcp://host:port`. */
export const createFileScanner =
  (url: string): ScanFile =>
  async (file) => {
    const answer = await sendCommand(url, IDLE_MS, async function* () {
      yield 'zINSTREAM\0'
      for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
        yield lengthOf(chunk.length)
        yield chunk
      }
      yield lengthOf(0)
    })
    const [, found] = /^stream: (.+) FOUND$/.exec(answer) ?? []
    if (found !== undefined) return found
    if (answer === 'stream: OK') return null
    throw new Error(`The scanner can't scan a file: ${answer}`)
  }

/** @returns the scanner's version. @throws Error if it does not answer. */
export const probeFileScanner = (url: string): Promise<string> =>
  sendCommand(url, PROBE_MS, async function* () {
    yield 'zVERSION\0'
  })

/** 32 bits, the most significant byte first. */
function lengthOf(bytes: number): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes)
  return length
}

/** clamd answers an error before it has read everything, and closes the connection. */
async function sendCommand(url: string, idleMs: number, command: () => AsyncIterable<string | Buffer>): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = net.connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) })
  socket.setTimeout(idleMs, () => socket.destroy(new Error('The scanner does not answer')))
  try {
    const sending = pipeline(command, socket, { end: false })
    const [answer, sendResult] = await Promise.allSettled([readAnswer(socket), sending])
    if (answer.status === 'fulfilled' && answer.value !== '') return answer.value
    throw sendResult.status === 'rejected'
      ? sendResult.reason
      : answer.status === 'rejected'
        ? answer.reason
        : new Error('The scanner closed the connection')
  } finally {
    socket.destroy()
  }
}

async function readAnswer(socket: net.Socket): Promise<string> {
  let answer = ''
  for await (const chunk of socket) {
    answer += String(chunk)
    if (answer.endsWith('\0') || answer.length > MAX_ANSWER_BYTES) break
  }
  return answer.replaceAll('\0', '').trim()
}
