import type { IncomingHttpHeaders } from 'node:http'

/** Positions of the first and the last byte, inclusive. */
export type ByteRange = { start: number; end: number }

/**
 * Reads `Range` (RFC 9110, section 14). Only a single range of bytes is supported. `If-Range` is answered with the whole content, because
 * contents have no validators.
 *
 * @param size bytes of the content, at least 1.
 * @returns undefined for the whole content.
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
