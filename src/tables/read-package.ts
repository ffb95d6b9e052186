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

/**
 * @param isWanted gets names in lower case. @param unpack of the same bytes, if other files are read too.
 * @throws UnreadableFile `notSheet`, `tooHeavy`.
 */
export function readPackage(bytes: Uint8Array, isWanted: (name: string) => boolean, unpack = createUnpacker(bytes)): Package {
  const names: string[] = []
  const found = new Map<string, Uint8Array[]>()
  const recordName = (name: string) => {
    names.push(name)
    if (isWanted(name)) found.set(name, [])
    return found.has(name)
  }
  for (const [name, piece] of unpack(recordName)) found.get(name)!.push(piece)
  return { names, files: new Map([...found].map(([name, pieces]) => [name, Buffer.concat(pieces)])) }
}

/** Unpacks the wanted files piece by piece, and stops after `limit` of them. `isWanted` gets names in lower case. */
export type Unpack = (isWanted: (name: string) => boolean, limit?: number) => Generator<[name: string, piece: Uint8Array]>

/**
 * Unpacks files of a package while they are read, so that the content is never in memory as a whole. Every call reads the package from its
 * beginning.
 *
 * @param maxBytes limit for the unpacked bytes of all calls together. @throws UnreadableFile while reading: `notSheet`, also for two
 *   wanted files with the same name; `tooHeavy`.
 */
export function createUnpacker(bytes: Uint8Array, maxBytes = MAX_UNPACKED): Unpack {
  let allUnpacked = 0
  return function* unpack(isWanted, limit = MAX_ENTRIES) {
    const pieces: [name: string, piece: Uint8Array][] = []
    const wanted = new Set<string>()
    let [names, packed, unpacked, ended] = [0, 0, 0, 0]
    const unzip = new Unzip((file) => {
      if (++names > MAX_ENTRIES) throw new UnreadableFile('tooHeavy')
      if (file.name.includes('..') || file.name.startsWith('/') || file.name.includes('\\')) throw new UnreadableFile('notSheet')
      const name = file.name.toLowerCase()
      if (!isWanted(name)) return
      if (wanted.has(name)) throw new UnreadableFile('notSheet')
      wanted.add(name)
      file.ondata = (error, data, isLast) => {
        if (error) throw error
        if (isLast) ended++
        unpacked += data.length
        allUnpacked += data.length
        const isBomb = unpacked > EXPANSION_FROM && unpacked > MAX_EXPANSION * packed
        if (isBomb || allUnpacked > Math.min(maxBytes, MAX_UNPACKED)) throw new UnreadableFile('tooHeavy')
        pieces.push([name, data.slice()]) // fflate reuses its buffer
      }
      file.start()
    })
    unzip.register(UnzipInflate)
    while (packed < bytes.length && ended < limit) {
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
