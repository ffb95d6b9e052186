import type { FastifyReply } from 'fastify'
import { BYTE_ORDER_MARK, toCsv } from './csv.ts'
import { streamFile } from './stream-file.ts'

export type Column<Row> = [name: string, cell: (row: Row) => string | number | Date | null | undefined]

/** Streams rows as CSV, see {@link streamFile}. @param work writes the rows in batches, at least one. */
export function sendCsv<Row>(
  reply: FastifyReply,
  { name, columns }: { name: string; columns: Column<Row>[] },
  work: (write: (rows: Row[]) => Promise<void>) => Promise<void>,
): Promise<FastifyReply> {
  let head = BYTE_ORDER_MARK + toCsv([columns.map(([column]) => column)])
  return streamFile(reply, { name, type: 'text/csv; charset=utf-8' }, (write) =>
    work(async (rows) => {
      const part = head + toCsv(rows.map((row) => columns.map(([, cell]) => toText(cell(row)))))
      head = ''
      await write(part)
    }),
  )
}

const toText = (value: ReturnType<Column<never>[1]>): string | number | null =>
  value instanceof Date ? value.toISOString() : (value ?? null)
