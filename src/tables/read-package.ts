import { Unzip, UnzipInflate } from 'fflate'
import { UnreadableFile } from './unreadable-file.ts'

// ZIP packages. Unpacked bytes are counted while unpacking, regardless of the declared sizes.

/** Bytes. */
const MAX_UNPACKED = 80 * 1024 * 1024
/** Factor by which no real package expands, and unpacked bytes from which on it is checked. Bombs expand by about 1,000. */
const MAX_EXPANSION = 200
const EXPANSION_FROM = 8 * 1024 * 1024
/** Packed bytes per step. Deflate expands them by a factor of about 1,000 at most. */
const UNPACKED_AT_ONCE = 8 * 1024
const MAX_ENTRIES = 5_000

/** @property names of all files. @property files contents of the wanted ones. */
export type Package = { names: string[]; files: ReadonlyMap<string, Uint8Array> }

/** @param isWanted of names in lower case. @param maxBytes unpacked. @throws UnreadableFile `notSheet`, `tooHeavy`. */
export function readPackage(bytes: Uint8Array, isWanted: (name: string) => boolean, maxBytes = MAX_UNPACKED): Package {
  const maxUnpacked = Math.min(maxBytes, MAX_UNPACKED)
  const found = new Map<string, Uint8Array[]>()
  const names: string[] = []
  let [packed, unpacked] = [0, 0]
  const unzip = new Unzip((file) => {
    if (names.push(file.name) > MAX_ENTRIES) throw new UnreadableFile('tooHeavy')
    if (file.name.includes('..') || file.name.startsWith('/') || file.name.includes('\\')) throw new UnreadableFile('notSheet')
    if (!isWanted(file.name.toLowerCase())) return
    const pieces: Uint8Array[] = []
    found.set(file.name.toLowerCase(), pieces)
    file.ondata = (error, data) => {
      if (error) throw error
      unpacked += data.length
      const isBomb = unpacked > EXPANSION_FROM && unpacked > MAX_EXPANSION * packed
      if (isBomb || unpacked > maxUnpacked) throw new UnreadableFile('tooHeavy')
      pieces.push(data.slice()) // fflate reuses its buffer
    }
    file.start()
  })
  unzip.register(UnzipInflate)
  try {
    while (packed < bytes.length) {
      const piece = bytes.subarray(packed, packed + UNPACKED_AT_ONCE)
      packed += piece.length
      unzip.push(piece, packed >= bytes.length)
    }
  } catch (error) {
    if (error instanceof UnreadableFile) throw error
    throw new UnreadableFile('notSheet')
  }
  return { names, files: new Map([...found].map(([name, pieces]) => [name, Buffer.concat(pieces)])) }
}
