import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../../domain/context.ts'
import { DomainError } from '../../domain/errors.ts'
import { type CandidateMove, findInvitation, listCandidateQuestions, moveAsCandidate } from '../../domain/invites/candidate.ts'
import { INVITATION_PATH } from '../../domain/invites/links.ts'
import { isOwnForm, readInvitation, signForm, signSession } from '../../domain/invites/tokens.ts'
import { serveAssets } from '../../http/assets.ts'
import { answerFailures } from '../../http/envelope.ts'
import { HttpError } from '../../http/failure.ts'
import { protectPages } from '../../http/html-page.ts'
import { assets } from './assets.ts'
import { candidateEnvelope } from './errors.ts'
import { sendPage } from './pages.ts'

export type CandidateSettings = {
  secretKeys: readonly string[]
  /** Where a started assessment is taken; undefined: on these pages. */
  playerUrl: string | undefined
}

type Options = { system: ServiceContext; settings: CandidateSettings }
type Params = { token: string }

/** The last part of a form's address, and the move it makes. */
const moveOfAction = new Map<string, CandidateMove>([
  ['accept', 'accept'],
  ['start', 'start'],
  ['finish', 'complete'],
  ['decline', 'decline'],
])

/** The pages behind the link in the mail. Opening one changes nothing, because mail scanners follow links: only its forms do. */
export async function candidatePages(app: FastifyInstance, { system, settings }: Options): Promise<void> {
  const { secretKeys, playerUrl } = settings
  protectPages(app, { formTargets: playerUrl ? [new URL(playerUrl).origin] : [] })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, async (_request: unknown, body: string) =>
    Object.fromEntries(new URLSearchParams(body)),
  )
  answerFailures(app, () => candidateEnvelope)
  serveAssets(app, INVITATION_PATH, assets)

  app.get<{ Params: Params }>('/:token', async ({ params: { token } }, reply) => {
    const ref = readInvitation(secretKeys, token)
    const invite = ref && (await findInvitation(system, ref))
    if (!invite) throw new DomainError('invite_not_found')
    const questions = invite.status === 'started' && !playerUrl ? await listCandidateQuestions(system, invite) : []
    const player = invite.status === 'started' ? playerAddress(settings, invite) : null
    return sendPage(reply, 200, invite.status, { invite, questions, player, token, proof: signForm(secretKeys, token) })
  })

  app.post<{ Params: Params & { action: string }; Body: { proof?: string } | undefined }>(
    '/:token/:action',
    async ({ params, body }, reply) => {
      const move = moveOfAction.get(params.action)
      const ref = readInvitation(secretKeys, params.token)
      if (!move || !ref) throw new DomainError('invite_not_found')
      if (!isOwnForm(secretKeys, params.token, body?.proof ?? '')) throw new HttpError('malformed_request')
      await makeMove(system, ref, move)
      const invite = move === 'start' && (await findInvitation(system, ref))
      const player = invite && invite.status === 'started' ? playerAddress(settings, invite) : null
      // 303: reloading the page that comes next sends nothing again.
      return reply.redirect(player ?? `${candidateEnvelope.prefix}/${params.token}`, 303)
    },
  )
}

/** A move that the status does not allow is no error to a person: the page shows the present status. */
async function makeMove(system: ServiceContext, ref: Parameters<typeof moveAsCandidate>[1], move: CandidateMove): Promise<void> {
  await moveAsCandidate(system, ref, move).catch((error) => {
    const overtaken = error instanceof DomainError && (error.kind === 'move_not_allowed' || error.kind === 'invite_not_found')
    if (!overtaken) throw error
  })
}

function playerAddress(
  { playerUrl, secretKeys }: CandidateSettings,
  invite: { id: string; assessmentSession: string | null },
): string | null {
  if (!playerUrl || !invite.assessmentSession) return null
  const url = new URL(playerUrl)
  url.searchParams.set('session', signSession(secretKeys, { inviteId: invite.id, session: invite.assessmentSession }))
  return url.href
}
