import type { FileHandle } from 'node:fs/promises'
import { TransferError } from './transfer-error.ts'

// Directory of a ZIP by PKWARE's APPNOTE, with ZIP64. The file may come from anybody, so only features that exports use are accepted.

/** @property packed bytes in the ZIP. @property size bytes of the content. @property offset start of the local header. */
export type ZipEntry = { name: string; method: number; packed: number; size: number; offset: number }

const ZIP_STORED = 0
export const ZIP_DEFLATED = 8
/** In place of the method of an encrypted file. */
const ENCRYPTED = -1
const IS_ENCRYPTED = 1

const MAX_FILES = 1_000_000
/** Bytes: a file's entry has about 120. */
const LARGEST_DIRECTORY = 256 * 1024 * 1024
/** Rows of an export are packed to a tenth; deflate can reach a thousandth. */
const MAX_RATIO = 200
/** Bytes up to which the ratio does not matter. */
const HARMLESS = 64 * 1024 * 1024

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
/** Files of an export. Others are refused, so no name is ever a path. */
const NAME = new RegExp(`^(?:manifest\\.json|media\\.jsonl|tables/[a-z_]{1,60}\\.jsonl|media/${UUID}(?:-\\d{1,10}-\\d{1,10})?)$`)
/** Added by packing the folder of an export, and not needed by an import. */
const UNUSED_NAME = new RegExp(`^(?:tables/|media/|rows\\.json|ids-${UUID}\\.jsonl)$`)

const END = { signature: 0x0605_4b50, bytes: 22 }
const END_64 = { signature: 0x0606_4b50, bytes: 56 }
const LOCATOR_64 = { signature: 0x0706_4b50, bytes: 20 }
const CENTRAL = { signature: 0x0201_4b50, bytes: 46 }
const LOCAL = { signature: 0x0403_4b50, bytes: 30 }
const LONGEST_COMMENT = 0xffff
const IN_ZIP64 = 0xffff_ffff
const ZIP64_FIELD = 1

/** @returns files by name. @throws TransferError for anything that no export has. */
export async function readDirectory(handle: FileHandle, file: string): Promise<Map<string, ZipEntry>> {
  const damaged = new TransferError(`${file} is not a ZIP, or is incomplete or damaged.`)
  const end = await findEnd(handle)
  if (!end || end.start + end.length !== end.at) throw damaged
  if (end.count > MAX_FILES || end.length > LARGEST_DIRECTORY)
    throw new TransferError(`${file} has more than ${MAX_FILES.toLocaleString('en')} files: unpack it, and import the folder.`)
  const bytes = await readBytes(handle, end.start, end.length)
  const entries = bytes && parseEntries(bytes, end.count)
  if (!entries) throw damaged
  checkEntries(file, entries)
  checkPlaces(file, entries, end.start)
  return new Map(entries.filter(({ name }) => NAME.test(name)).map((entry) => [entry.name, entry]))
}

/** @throws TransferError for names and sizes that no export has, before any content is read. */
function checkEntries(file: string, entries: ZipEntry[]): void {
  const names = new Set<string>()
  for (const entry of entries) {
    const problem = findProblem(entry) ?? (names.has(entry.name) ? 'twice' : null)
    if (problem) throw new TransferError(`${file} has ${JSON.stringify(entry.name)} ${problem}.`)
    names.add(entry.name)
  }
}

function findProblem({ name, method, size, packed }: ZipEntry): string | null {
  if (!NAME.test(name) && !UNUSED_NAME.test(name))
    return 'in it, which no export has: manifest.json has to be at the top of the ZIP'
  if (method === ENCRYPTED) return 'encrypted'
  if (method !== ZIP_STORED && method !== ZIP_DEFLATED) return 'packed in an unknown way'
  const isImpossible = (method === ZIP_STORED && size !== packed) || (size > HARMLESS && size > packed * MAX_RATIO)
  return isImpossible ? 'with a size that is impossible for an export' : null
}

/** @throws TransferError for files that share bytes with another one, or with the directory. */
function checkPlaces(file: string, entries: ZipEntry[], directoryStart: number): void {
  let free = 0
  for (const { name, offset, packed } of entries.toSorted((a, b) => a.offset - b.offset)) {
    const end = offset + LOCAL.bytes + name.length + packed
    if (offset < free || end > directoryStart)
      throw new TransferError(`${file} has ${JSON.stringify(name)} in the place of something else.`)
    free = end
  }
}

/** @returns start of the content. @throws TransferError if the header differs from the directory. */
export async function readLocalHeader(handle: FileHandle, { name, offset }: ZipEntry, shown: string): Promise<number> {
  const header = await readBytes(handle, offset, LOCAL.bytes + name.length)
  const isSame =
    header?.readUInt32LE(0) === LOCAL.signature &&
    header.readUInt16LE(26) === name.length &&
    header.toString('latin1', LOCAL.bytes) === name
  if (!isSame) throw new TransferError(`${shown} differs from the directory of the ZIP.`)
  return offset + LOCAL.bytes + name.length + header.readUInt16LE(28)
}

/** Location of the directory. @property at position at which it must end. */
type End = { start: number; length: number; count: number; at: number }

async function findEnd(handle: FileHandle): Promise<End | null> {
  const { size } = await handle.stat()
  const length = Math.min(size, END.bytes + LONGEST_COMMENT)
  const tail = await readBytes(handle, size - length, length)
  if (!tail) return null
  for (let i = length - END.bytes; i >= 0; i--) {
    if (tail.readUInt32LE(i) !== END.signature || tail.readUInt16LE(i + 20) !== length - i - END.bytes) continue
    const offset = size - length + i
    const end = {
      count: tail.readUInt16LE(i + 10),
      length: tail.readUInt32LE(i + 12),
      start: tail.readUInt32LE(i + 16),
      at: offset,
    }
    return (await findEnd64(handle, offset)) ?? end
  }
  return null
}

async function findEnd64(handle: FileHandle, endAt: number): Promise<End | null> {
  const locator = await readBytes(handle, endAt - LOCATOR_64.bytes, LOCATOR_64.bytes)
  if (locator?.readUInt32LE(0) !== LOCATOR_64.signature) return null
  const offset = Number(locator.readBigUInt64LE(8))
  const end = await readBytes(handle, offset, END_64.bytes)
  if (end?.readUInt32LE(0) !== END_64.signature) return null
  const [count, length, start] = [32, 40, 48].map((place) => Number(end.readBigUInt64LE(place)))
  return { count: count!, length: length!, start: start!, at: offset }
}

/** @returns null if the directory is damaged. */
function parseEntries(bytes: Buffer, count: number): ZipEntry[] | null {
  const entries: ZipEntry[] = []
  let at = 0
  while (at + CENTRAL.bytes <= bytes.length && bytes.readUInt32LE(at) === CENTRAL.signature) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((place) => bytes.readUInt16LE(at + place))
    const nameEnd = at + CENTRAL.bytes + nameLength!
    const end = nameEnd + extraLength! + commentLength!
    if (end > bytes.length) return null
    const sizes = readSizes(bytes.subarray(at, at + CENTRAL.bytes), bytes.subarray(nameEnd, nameEnd + extraLength!))
    if (!sizes) return null
    const isEncrypted = (bytes.readUInt16LE(at + 8) & IS_ENCRYPTED) !== 0
    const method = isEncrypted ? ENCRYPTED : bytes.readUInt16LE(at + 10)
    entries.push({ name: bytes.toString('latin1', at + CENTRAL.bytes, nameEnd), method, ...sizes })
    at = end
  }
  return at === bytes.length && entries.length === count ? entries : null
}

/** Numbers beyond 32 bits are in the ZIP64 field, in this order. */
function readSizes(header: Buffer, extra: Buffer): Pick<ZipEntry, 'size' | 'packed' | 'offset'> | null {
  const numbers = [24, 20, 42].map((place) => header.readUInt32LE(place))
  const large = findZip64Field(extra)
  let at = 0
  for (const [i, number] of numbers.entries()) {
    if (number !== IN_ZIP64) continue
    if (!large || at + 8 > large.length) return null
    numbers[i] = Number(large.readBigUInt64LE(at))
    at += 8
  }
  const [size, packed, offset] = numbers as [number, number, number]
  return numbers.every(Number.isSafeInteger) ? { size, packed, offset } : null
}

function findZip64Field(extra: Buffer): Buffer | null {
  for (let at = 0; at + 4 <= extra.length; ) {
    const end = at + 4 + extra.readUInt16LE(at + 2)
    if (extra.readUInt16LE(at) === ZIP64_FIELD) return extra.subarray(at + 4, end)
    at = end
  }
  return null
}

/** @returns null if the file has no such bytes. */
async function readBytes(handle: FileHandle, start: number, length: number): Promise<Buffer | null> {
  const { size } = await handle.stat()
  if (start < 0 || !Number.isSafeInteger(start + length) || start + length > size) return null
  const bytes = Buffer.allocUnsafe(length)
  for (let readCount = 0; readCount < length; ) {
    const { bytesRead } = await handle.read(bytes, readCount, length - readCount, start + readCount)
    if (bytesRead === 0) return null
    readCount += bytesRead
  }
  return bytes
}
