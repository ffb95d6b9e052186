import type { FastifyInstance } from 'fastify'
import { inMode } from '../../../domain/context.ts'
import { deleteTestData } from '../../../domain/test-data/delete-test-data.ts'
import { pathOf } from '../kit/layout.ts'

/** Always deletes test data, also when called from a page of live data, and redirects to the home page of test data. */
export function testDataRoutes(app: FastifyInstance): void {
  app.post('/test-data/delete', async ({ ctx }, reply) => {
    const { remaining } = await deleteTestData(inMode(ctx, 'test'))
    return reply.redirect(`${pathOf({ ...ctx, mode: 'test' })}?done=${remaining > 0 ? 'deleting' : 'deleted'}`, 303)
  })
}
