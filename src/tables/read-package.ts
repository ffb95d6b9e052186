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

/** @property names of all files, in lower case. @property files contents of the wanted ones, by name. */
export type Package = { names: string[]; files: ReadonlyMap<string, Uint8Array> }

/** @param isWanted of names in lower case. @throws UnreadableFile `notSheet`, `tooHeavy`. */
export function readPackage(bytes: Uint8Array, isWanted: (name: string) => boolean): Package {
  const names: string[] = []
  const found = new Map<string, Uint8Array[]>()
  const isFound = (name: string) => {
    names.push(name)
    if (isWanted(name)) found.set(name, [])
    return found.has(name)
  }
  for (const [name, piece] of createUnpacker(bytes)(isFound)) found.get(name)!.push(piece)
  return { names, files: new Map([...found].map(([name, pieces]) => [name, Buffer.concat(pieces)])) }
}

/** Unpacks the files whose name in lower case is wanted, piece by piece. */
export type Unpack = (isWanted: (name: string) => boolean) => Generator<[name: string, piece: Uint8Array]>

/**
 * Unpacks files of a package while they are read, so that the content is never in memory as a whole.
 *
 * @param maxBytes unpacked, by all calls. @throws UnreadableFile `notSheet`, `tooHeavy`, while reading.
 */
export function createUnpacker(bytes: Uint8Array, maxBytes = MAX_UNPACKED): Unpack {
  let allUnpacked = 0
  return function* unpack(isWanted) {
    const pieces: [name: string, piece: Uint8Array][] = []
    let [names, packed, unpacked] = [0, 0, 0]
    const unzip = new Unzip((file) => {
      if (++names > MAX_ENTRIES) throw new UnreadableFile('tooHeavy')
      if (file.name.includes('..') || file.name.startsWith('/') || file.name.includes('\\')) throw new UnreadableFile('notSheet')
      const name = file.name.toLowerCase()
      if (!isWanted(name)) return
      file.ondata = (error, data) => {
        if (error) throw error
        unpacked += data.length
        allUnpacked += data.length
        const isBomb = unpacked > EXPANSION_FROM && unpacked > MAX_EXPANSION * packed
        if (isBomb || allUnpacked > Math.min(maxBytes, MAX_UNPACKED)) throw new UnreadableFile('tooHeavy')
        pieces.push([name, data.slice()]) // fflate reuses its buffer
      }
      file.start()
    })
    unzip.register(UnzipInflate)
    while (packed < bytes.length) {
      const piece = bytes.subarray(packed, packed + UNPACKED_AT_ONCE)
      packed += piece.length
      try {
        unzip.push(piece, packed >= bytes.length)
      } catch (error) {
        if (error instanceof UnreadableFile) throw error
        throw new UnreadableFile('notSheet')
      }
      yield* pieces.splice(0)
    }
  }
}
