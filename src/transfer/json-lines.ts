import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { FileFacts } from './manifest.ts'
import { openPlainFile } from './plain-files.ts'
import { TransferError } from './transfer-error.ts'

/** A row has no more bytes: the longest text is some hundred thousand. */
const LONGEST_LINE = 16 * 1024 * 1024
const LINE_FEED = 10

/** Writes batches of lines to a new file. @returns what the manifest says about it. */
export async function writeLines(file: string, batches: AsyncIterable<string[]>): Promise<FileFacts> {
  await using handle = await open(file, 'wx', 0o600)
  const hash = createHash('sha256')
  const facts = { rows: 0, bytes: 0 }
  for await (const lines of batches) {
    const text = Buffer.from(lines.map((line) => `${line}\n`).join(''))
    hash.update(text)
    facts.rows += lines.length
    facts.bytes += text.length
    await handle.writeFile(text)
  }
  await handle.sync()
  return { ...facts, sha256: hash.digest('hex') }
}

/**
 * Reads the lines of a file, which has to be as the manifest says. The reader is told of a changed file at its end at the latest, so it has to
 * undo what it did.
 */
export async function* readLines(file: string, facts: FileFacts): AsyncGenerator<string> {
  const refuse = (): never => {
    throw new TransferError(`${file} does not match the manifest.`)
  }
  await using handle = await openPlainFile(file)
  if ((await handle.stat()).size !== facts.bytes) refuse()
  const hash = createHash('sha256')
  let rows = 0
  let rest: Buffer[] = []
  let restLength = 0
  for await (const chunk of handle.createReadStream({ autoClose: false, highWaterMark: 262_144 })) {
    const bytes = chunk as Buffer
    hash.update(bytes)
    let start = 0
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      if (++rows > facts.rows) refuse()
      yield Buffer.concat([...rest, bytes.subarray(start, end)]).toString('utf8')
      rest = []
      restLength = 0
      start = end + 1
    }
    if (start === bytes.length) continue
    rest.push(Buffer.from(bytes.subarray(start)))
    restLength += bytes.length - start
    if (restLength > LONGEST_LINE) throw new TransferError(`${file} has a line of more than ${LONGEST_LINE} bytes.`)
  }
  if (restLength > 0 || rows !== facts.rows || hash.digest('hex') !== facts.sha256) refuse()
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
const MOST_ITEMS = 1_000
const LARGEST_BATCH = 1_000_000
