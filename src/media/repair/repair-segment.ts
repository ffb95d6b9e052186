import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { containerOf } from '../../domain/files/type-of-content.ts'
import { repairMp4 } from './mp4.ts'
import type { Repaired, Source } from './source.ts'
import { repairWebm } from './webm.ts'

/** Bytes read at a time: the next read is mostly close by. */
const WINDOW = 2 ** 20
const HEADER_BYTES = 64

/** If repairing would lose more than this share of a segment, the segment is kept as it is. */
const MAX_LOST_SHARE = 0.5

/** @property lost see {@link Repaired}. @property bytes of the segment that were kept. */
export type RepairResult = { lost: number[]; bytes: number }

/**
 * Repairs a segment that a browser wrote incorrectly or that was damaged in transit. Runs synchronously, so use it only in a child process.
 *
 * @returns null if there is nothing to repair or too little would remain; then nothing is written.
 * @throws Error for a file built to be expensive, and system errors.
 */
export function repairSegment(segment: string, to: string): RepairResult | null {
  const file = openSync(segment, 'r')
  try {
    const source = readFrom(file)
    const repaired = repairSource(source)
    if (!repaired || repaired.keptBytes < (source.size - repaired.repeatedBytes) * (1 - MAX_LOST_SHARE)) return null
    write(source, repaired, to)
    return { lost: repaired.lost, bytes: repaired.keptBytes }
  } finally {
    closeSync(file)
  }
}

/** Repairs by container format. */
export function repairSource(source: Source): Repaired | null {
  const container = containerOf(source.bytes(0, HEADER_BYTES))
  if (container === 'video/webm') return repairWebm(source)
  return container === 'video/mp4' ? repairMp4(source) : null
}

/** First bytes of a file, to detect its container. */
export function readStart(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    return Buffer.from(readFrom(file).bytes(0, HEADER_BYTES))
  } finally {
    closeSync(file)
  }
}

function readFrom(file: number): Source {
  const { size } = fstatSync(file)
  const window = Buffer.alloc(Math.min(WINDOW, size))
  let [from, to] = [0, 0]
  return {
    size,
    bytes(position, length) {
      const end = Math.min(position + length, size)
      if (end <= position) return Buffer.alloc(0)
      if (end - position > window.length) return readWhole(file, Buffer.alloc(end - position), position)
      if (position < from || end > to) {
        from = position
        to = from + readWhole(file, window.subarray(0, Math.min(window.length, size - position)), position).length
      }
      return window.subarray(position - from, end - from)
    },
  }
}

function readWhole(file: number, into: Buffer, position: number): Buffer {
  let readBytes = 0
  for (let more = -1; readBytes < into.length && more !== 0; readBytes += more)
    more = readSync(file, into, readBytes, into.length - readBytes, position + readBytes)
  return into.subarray(0, readBytes)
}

function write(source: Source, { pieces }: Repaired, to: string): void {
  const file = openSync(to, 'w')
  try {
    for (const piece of pieces) {
      if (Buffer.isBuffer(piece)) writeWhole(file, piece)
      else
        for (let at = piece.from; at < piece.to; at += WINDOW) writeWhole(file, source.bytes(at, Math.min(WINDOW, piece.to - at)))
    }
  } finally {
    closeSync(file)
  }
}

/** Repeats short writes. */
function writeWhole(file: number, bytes: Buffer): void {
  for (let writtenBytes = 0; writtenBytes < bytes.length; ) writtenBytes += writeSync(file, bytes, writtenBytes)
}
