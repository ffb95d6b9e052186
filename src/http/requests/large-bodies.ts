import type { FastifyInstance } from 'fastify'
import { type BodyReader, createBodyReader } from './body-reader.ts'

/** Bytes of large bodies in memory, for all organizations together. Processing one takes several times its size. */
const BUDGET = 64 * 1024 * 1024
const readWithinBudget = createBodyReader(BUDGET)

/**
 * Prepares a scope whose bodies may be megabytes, such as uploaded files. Its parsers use the returned reader, so that no number of uploads uses
 * up the process's memory. `request.ctx` must be set.
 */
export function limitLargeBodies(app: FastifyInstance): BodyReader {
  app.addHook('preParsing', async (request, reply, payload) => {
    const { organization, actor } = request.ctx
    request.bodySource = { organization: organization.id, sender: 'id' in actor ? actor.id : '', answer: reply.raw }
    return payload
  })
  return readWithinBudget
}
