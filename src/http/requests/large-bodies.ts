import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type BodyReader, type BodySource, createBodyReader } from './body-reader.ts'

/** Bytes of large bodies in memory, for all organizations together. Processing one takes several times its size. */
const BUDGET = 64 * 1024 * 1024
const readWithinBudget = createBodyReader(BUDGET)

/**
 * Prepares a scope whose bodies may be megabytes, such as uploaded files. Its parsers use the returned reader, so that no number of uploads uses
 * up the process's memory.
 */
export function limitLargeBodies(app: FastifyInstance): BodyReader {
  app.addHook('preParsing', async (request, reply, payload) => {
    request.bodySource = { ...sourceOf(request), answer: reply.raw }
    return payload
  })
  return readWithinBudget
}

/** A form whose session has ended is read too, to be saved until its sender signs in: it has no context yet. */
function sourceOf({ ctx, ip }: FastifyRequest): Pick<BodySource, 'organization' | 'sender'> {
  const { organization, actor } = (ctx as FastifyRequest['ctx'] | null) ?? {}
  return { organization: organization?.id ?? '', sender: actor && 'id' in actor ? actor.id : ip }
}
