import type { IncomingHttpHeaders } from 'node:http'

/** Positions of the first byte and the last. */
export type ByteRange = { start: number; end: number }

/**
 * The part of a content that a request asks for (RFC 9110, section 14): a single range of bytes. Anything else asks for the whole, and so
 * does a request for the rest of what it has by condition (If-Range), because contents have no versions.
 *
 * @param size of the content, in bytes; at least 1.
 * @returns undefined for the whole.
 */
export function findRange(headers: IncomingHttpHeaders, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(headers.range ?? '') ?? []
  if (first === undefined || last === undefined || headers['if-range'] !== undefined || first + last === '') return undefined
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length > 0 ? { start: size - length, end: size - 1 } : 'unsatisfiable'
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return undefined
  return start < size ? { start, end } : 'unsatisfiable'
}
