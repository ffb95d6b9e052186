import type { FastifyReply } from 'fastify'
import { sendInParts } from './send-in-parts.ts'

/** Streams rows as lines of JSON, see {@link sendInParts}. @param work writes the rows in batches, at least one. */
export const sendNdjson = <Row>(
  reply: FastifyReply,
  { name, line }: { name: string; line: (row: Row) => object },
  work: (write: (rows: Row[]) => Promise<void>) => Promise<void>,
): Promise<FastifyReply> =>
  sendInParts(reply, { name, type: 'application/x-ndjson; charset=utf-8' }, (write) =>
    work((rows) => write(rows.map((row) => `${JSON.stringify(line(row))}\n`).join(''))),
  )
