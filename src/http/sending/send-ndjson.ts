import type { FastifyReply } from 'fastify'
import { streamFile } from './stream-file.ts'

/** Streams rows as lines of JSON, see {@link streamFile}. @param work writes the rows in batches, at least one. */
export const sendNdjson = <Row>(
  reply: FastifyReply,
  { name, line }: { name: string; line: (row: Row) => object },
  work: (write: (rows: Row[]) => Promise<void>) => Promise<void>,
): Promise<FastifyReply> =>
  streamFile(reply, { name, type: 'application/x-ndjson; charset=utf-8' }, (write) =>
    work((rows) => write(rows.map((row) => `${JSON.stringify(line(row))}\n`).join(''))),
  )
