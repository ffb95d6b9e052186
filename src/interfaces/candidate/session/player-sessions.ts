import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../../../domain/context.ts'
import { DomainError } from '../../../domain/errors.ts'
import { completeSession } from '../../../domain/invites/candidate-moves.ts'
import { readSession } from '../../../domain/secrets/invitation-tokens.ts'

type Options = { system: ServiceContext; secretKeys: readonly string[] }

export const PLAYER_SESSIONS_PREFIX = '/player/sessions'

/** Route by which the external player reports a finished session. The signed reference is its credential. */
export async function playerSessions(app: FastifyInstance, { system, secretKeys }: Options): Promise<void> {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, async () => undefined) // the reference identifies the session

  app.post<{ Params: { reference: string } }>('/:reference/complete', async ({ params }) => {
    const ref = readSession(secretKeys, params.reference)
    if (!ref) throw new DomainError('invite_not_found')
    await completeSession(system, ref)
    return { status: 'completed' }
  })
}
