import { pipeline } from 'node:stream/promises'
import { crc32, createDeflateRaw, deflateRawSync } from 'node:zlib'

// Streams a ZIP file (PKWARE's APPNOTE). Files and archives may exceed 4 GiB, as ZIP64.

/** Writes the next bytes. Resolves when there is room for more. */
export type WriteBytes = (bytes: Uint8Array) => Promise<void>

export type Zip = {
  /** Adds a text, compressed. @param name path with slashes. */
  add: (name: string, content: string) => Promise<void>
  /** Adds a stream, uncompressed, because media are compressed already. @returns its bytes. */
  addStream: (name: string, content: AsyncIterable<Uint8Array>) => Promise<number>
  /** Adds a stream, compressed. @returns its bytes before compression. */
  addTextStream: (name: string, content: AsyncIterable<Uint8Array>) => Promise<number>
  /** Writes the central directory. Nothing can be added afterwards. */
  end: () => Promise<void>
}

type Entry = { name: Buffer; method: number; flags: number; crc: number; packed: number; size: number; offset: number }

const STORED = 0
const DEFLATED = 8
const NAME_IS_UTF8 = 1 << 11
/** Length and checksum follow the content (data descriptor). */
const HAS_DATA_DESCRIPTOR = 1 << 3
/** Placeholder in a 32-bit field; the ZIP64 extra field has the number. */
const IN_ZIP64 = 0xffff_ffff
/** Required reader versions: 2.0, or 4.5 for ZIP64. */
const VERSION = 20
const VERSION_64 = 45
/** ZIP64 field in the header of streamed files, whose length is not known in advance. */
const EXTRA_64 = fields([2, 0x0001], [2, 16], [8, 0], [8, 0])

/** @param at modification time of all files. */
export function createZip(write: WriteBytes, at: Date): Zip {
  const entries: Entry[] = []
  const stamp = dosTime(at)
  let offset = 0
  async function send(bytes: Uint8Array): Promise<void> {
    await write(bytes)
    offset += bytes.length
  }
  async function sendStream(name: string, method: number, content: AsyncIterable<Uint8Array>): Promise<number> {
    const flags = NAME_IS_UTF8 | HAS_DATA_DESCRIPTOR
    const entry: Entry = { name: Buffer.from(name), method, flags, crc: 0, packed: 0, size: 0, offset }
    entries.push(entry)
    await send(localHeader(entry, stamp))
    async function* measured() {
      for await (const piece of content) {
        entry.crc = crc32(piece, entry.crc)
        entry.size += piece.length
        yield piece
      }
    }
    async function sendAll(pieces: AsyncIterable<Uint8Array>): Promise<void> {
      for await (const piece of pieces) {
        entry.packed += piece.length
        await send(piece)
      }
    }
    if (method === STORED) await sendAll(measured())
    else await pipeline(measured(), createDeflateRaw(), sendAll)
    await send(fields([4, 0x0807_4b50], [4, entry.crc], [8, entry.packed], [8, entry.size]))
    return entry.size
  }
  return {
    async add(name, content) {
      const plain = Buffer.from(content)
      const packed = deflateRawSync(plain)
      const of = { method: DEFLATED, flags: NAME_IS_UTF8, crc: crc32(plain), packed: packed.length, size: plain.length }
      const entry = { name: Buffer.from(name), ...of, offset }
      entries.push(entry)
      await send(Buffer.concat([localHeader(entry, stamp), packed]))
    },
    addStream: (name, content) => sendStream(name, STORED, content),
    addTextStream: (name, content) => sendStream(name, DEFLATED, content),
    async end() {
      const start = offset
      for (const entry of entries) await send(centralHeader(entry, stamp))
      await send(centralDirectoryEnd(entries.length, start, offset - start))
    },
  }
}

function localHeader({ name, method, flags, crc, packed, size }: Entry, stamp: number): Buffer {
  const hasDescriptor = (flags & HAS_DATA_DESCRIPTOR) !== 0
  const lengths = hasDescriptor ? [IN_ZIP64, IN_ZIP64] : [packed, size]
  const extra = hasDescriptor ? EXTRA_64 : Buffer.alloc(0)
  return Buffer.concat([
    fields(
      [4, 0x0403_4b50],
      [2, hasDescriptor ? VERSION_64 : VERSION],
      [2, flags],
      [2, method],
      [4, stamp],
      [4, hasDescriptor ? 0 : crc],
    ),
    fields([4, lengths[0]!], [4, lengths[1]!], [2, name.length], [2, extra.length]),
    name,
    extra,
  ])
}

/** Numbers beyond 32 bits go into the ZIP64 extra field, in this order. */
function centralHeader({ name, method, flags, crc, packed, size, offset }: Entry, stamp: number): Buffer {
  const large = [size, packed, offset].filter((number) => number >= IN_ZIP64)
  const extra =
    large.length > 0
      ? fields([2, 0x0001], [2, large.length * 8], ...large.map((number): [8, number] => [8, number]))
      : Buffer.alloc(0)
  const small = (number: number) => Math.min(number, IN_ZIP64)
  return Buffer.concat([
    fields([4, 0x0201_4b50], [2, VERSION_64], [2, extra.length > 0 ? VERSION_64 : VERSION], [2, flags], [2, method], [4, stamp]),
    fields([4, crc], [4, small(packed)], [4, small(size)], [2, name.length], [2, extra.length]),
    fields([2, 0], [2, 0], [2, 0], [4, 0], [4, small(offset)]), // no comment, one disk, no attributes
    name,
    extra,
  ])
}

/** End of the central directory, for ZIP64 readers and for others. */
function centralDirectoryEnd(count: number, start: number, length: number): Buffer {
  return Buffer.concat([
    fields([4, 0x0606_4b50], [8, 44], [2, VERSION_64], [2, VERSION_64], [4, 0], [4, 0]),
    fields([8, count], [8, count], [8, length], [8, start]),
    fields([4, 0x0706_4b50], [4, 0], [8, start + length], [4, 1]),
    fields([4, 0x0605_4b50], [2, 0], [2, 0], [2, Math.min(count, 0xffff)], [2, Math.min(count, 0xffff)]),
    fields([4, Math.min(length, IN_ZIP64)], [4, Math.min(start, IN_ZIP64)], [2, 0]),
  ])
}

/** Encodes little-endian numbers of the given sizes. */
function fields(...numbers: [bytes: 2 | 4 | 8, number: number][]): Buffer {
  const buffer = Buffer.alloc(numbers.reduce((sum, [bytes]) => sum + bytes, 0))
  let at = 0
  for (const [bytes, number] of numbers) {
    if (bytes === 8) buffer.writeBigUInt64LE(BigInt(number), at)
    else buffer.writeUIntLE(number, at, bytes)
    at += bytes
  }
  return buffer
}

/** DOS timestamps have a resolution of 2 s. This one is UTC. */
const dosTime = (at: Date): number =>
  (((at.getUTCFullYear() - 1980) << 25) |
    ((at.getUTCMonth() + 1) << 21) |
    (at.getUTCDate() << 16) |
    (at.getUTCHours() << 11) |
    (at.getUTCMinutes() << 5) |
    (at.getUTCSeconds() >> 1)) >>>
  0
