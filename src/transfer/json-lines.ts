import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { type ExportSource, openFile } from './export-source.ts'
import type { FileFacts } from './manifest.ts'
import { TransferError } from './transfer-error.ts'

/** A row has no more bytes: the longest text is some hundred thousand. */
const LONGEST_LINE = 16 * 1024 * 1024
const LINE_FEED = 10

/** Writes batches of lines to a new file. @returns its figures for the manifest. */
export async function writeLines(file: string, batches: AsyncIterable<string[]>): Promise<FileFacts> {
  await using handle = await open(file, 'wx', 0o600)
  const { bytes, facts } = measureLines(batches)
  for await (const text of bytes) await handle.writeFile(text)
  await handle.sync()
  return facts()
}

/** Content of a file of lines. `facts` has its figures for the manifest, after all bytes were read. */
export function measureLines(batches: AsyncIterable<string[]> | Iterable<string[]>) {
  const hash = createHash('sha256')
  const counts = { rows: 0, bytes: 0 }
  async function* encode(): AsyncGenerator<Buffer> {
    for await (const lines of batches) {
      const text = Buffer.from(lines.map((line) => `${line}\n`).join(''))
      hash.update(text)
      counts.rows += lines.length
      counts.bytes += text.length
      yield text
    }
  }
  return { bytes: encode(), facts: (): FileFacts => ({ ...counts, sha256: hash.digest('hex') }) }
}

/**
 * Reads the lines of a file and compares it with the manifest. A changed file may only be detected at its end, so the reader must be able
 * to undo its work.
 */
export async function* readLines(source: ExportSource, name: string, facts: FileFacts): AsyncGenerator<string> {
  await using file = await openFile(source, name)
  const refuse = (): never => {
    throw new TransferError(`${file.name} does not match the manifest.`)
  }
  if (file.bytes !== facts.bytes) refuse()
  const hash = createHash('sha256')
  let rows = 0
  let pending: Buffer[] = []
  let pendingLength = 0
  for await (const bytes of file.read()) {
    hash.update(bytes)
    let start = 0
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      if (++rows > facts.rows) refuse()
      yield Buffer.concat([...pending, bytes.subarray(start, end)]).toString('utf8')
      pending = []
      pendingLength = 0
      start = end + 1
    }
    if (start === bytes.length) continue
    pending.push(Buffer.from(bytes.subarray(start)))
    pendingLength += bytes.length - start
    if (pendingLength > LONGEST_LINE) throw new TransferError(`${file.name} has a line of more than ${LONGEST_LINE} bytes.`)
  }
  if (pendingLength > 0 || rows !== facts.rows || hash.digest('hex') !== facts.sha256) refuse()
}

/** Joins lines into batches of limited length. */
export async function* inBatches<Item>(items: AsyncIterable<Item>, sizeOf: (item: Item) => number): AsyncGenerator<Item[]> {
  let batch: Item[] = []
  let size = 0
  for await (const item of items) {
    batch.push(item)
    size += sizeOf(item)
    if (batch.length < MOST_ITEMS && size < LARGEST_BATCH) continue
    yield batch
    batch = []
    size = 0
  }
  if (batch.length > 0) yield batch
}

/** Batches of a list. */
export function* batched<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let i = 0; i < items.length; i += MOST_ITEMS) yield items.slice(i, i + MOST_ITEMS)
}
const MOST_ITEMS = 1_000
const LARGEST_BATCH = 1_000_000
