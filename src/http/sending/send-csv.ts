import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { BYTE_ORDER_MARK, toCsv } from './csv.ts'

/** Milliseconds for which a client may read nothing: somebody else may be waiting to export. */
const STALLED_AFTER_MS = 30_000

/** A column: its name, and what it says of a row. */
export type Column<Row> = [name: string, cell: (row: Row) => string | number | Date | null | undefined]

/**
 * Sends a file while it is being made, no faster than the client reads it.
 *
 * @param work writes the rows in batches, at least one. What it throws before the first is answered as any other error; later the answer
 *   breaks off, so that nobody takes a part for the whole. When the client hangs up, or stops reading, writing fails.
 */
export async function sendCsv<Row>(
  reply: FastifyReply,
  { name, columns }: { name: string; columns: Column<Row>[] },
  work: (write: (rows: Row[]) => Promise<void>) => Promise<void>,
): Promise<FastifyReply> {
  const file = new PassThrough()
  const gone = new AbortController()
  file.on('error', () => {}) // who sends it is told as well
  file.on('close', () => gone.abort())
  const begun = Promise.withResolvers<void>()
  const write = async (rows: Row[]) => {
    gone.signal.throwIfAborted()
    begun.resolve()
    if (file.write(toCsv(rows.map((row) => columns.map(([, cell]) => toText(cell(row))))))) return
    await once(file, 'drain', { signal: AbortSignal.any([gone.signal, AbortSignal.timeout(STALLED_AFTER_MS)]) })
  }
  file.write(BYTE_ORDER_MARK + toCsv([columns.map(([column]) => column)]))
  work(write).then(
    () => file.end(),
    (error: Error) => {
      begun.reject(error)
      file.destroy(error)
    },
  )
  await begun.promise
  reply.header('content-disposition', `attachment; filename="${name}"`)
  return reply.type('text/csv; charset=utf-8').send(file)
}

const toText = (value: ReturnType<Column<never>[1]>): string | number | null =>
  value instanceof Date ? value.toISOString() : (value ?? null)
