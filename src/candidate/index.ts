import path from 'node:path'
import { Eta } from 'eta'
import type { FastifyInstance } from 'fastify'
import { findInvitation } from '../domain/candidate-invites.ts'
import type { Deps } from '../domain/context.ts'
import { readInvitation } from '../domain/invitation-token.ts'
import { protectPages } from '../http/html-page.ts'

const eta = new Eta({ views: path.join(import.meta.dirname, 'templates'), cache: true })

/** The pages behind the link in the mail. */
export async function candidatePages(
  app: FastifyInstance,
  { deps, secretKeys }: { deps: Deps; secretKeys: readonly string[] },
): Promise<void> {
  protectPages(app)
  app.get<{ Params: { token: string } }>('/:token', async ({ params }, reply) => {
    const ref = readInvitation(secretKeys, params.token)
    const invite = ref && (await findInvitation(deps, ref))
    const page = invite ? eta.render('./invitation.eta', { invite }) : eta.render('./unknown.eta', {})
    return reply
      .code(invite ? 200 : 404)
      .type('text/html; charset=utf-8')
      .send(page)
  })
}
