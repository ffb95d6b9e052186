import type { FastifyInstance, FastifyReply } from 'fastify'
import { DomainError } from '../../../domain/errors.ts'
import { readInvitation } from '../../../domain/secrets/invitation-tokens.ts'
import { findNeeds } from '../../../domain/submissions/find-needs.ts'
import { listPractice } from '../../../domain/submissions/taking/list-practice.ts'
import { type CandidateSession, enterSession } from '../../../domain/submissions/taking/session.ts'
import { INVITATION_PATH } from '../../../http/addresses/links.ts'
import { definedKind } from '../../../kinds/index.ts'
import { addForm, readNumber, type SendResponse } from '../kit/forms.ts'
import { sendPage } from '../kit/layout.ts'
import type { Options } from '../kit/settings.ts'
import { viewOf } from './choose-page.ts'
import { practicePage } from './practice.page.ts'

type Route = { Params: { token: string }; Querystring: { example?: string } }
type PracticeRequest = { request: Parameters<typeof viewOf>[1]; number: number; typedAnswer?: string[] }

/** Examples of the assessment's kinds, before the start. Nothing is stored: each page is made from the submitted form. */
export function practiceRoutes(app: FastifyInstance, { system, settings, countPage }: Options): void {
  app.get<Route>('/:token/practice', async (request, reply) => {
    const ref = readInvitation(settings.secretKeys, request.params.token)
    if (!ref) throw new DomainError('invite_not_found')
    countPage(request, ref.inviteId)
    const number = Number(request.query.example ?? 1)
    return (await showExample(await enterSession(system, ref), reply, { request, number }))()
  })

  addForm(app, settings.secretKeys, 'practice', async ({ ref, fields, request, reply }) => {
    countPage(request, ref.inviteId) // nothing is saved, so the response is a page
    const typedAnswer = fields.get('then') === 'clear' ? [] : fields.getAll('answer')
    return showExample(await enterSession(system, ref), reply, { request, number: readNumber(fields), typedAnswer })
  })

  /** @returns a function that sends the example's page; without such an example, a redirect to the invite's page. */
  async function showExample(
    session: CandidateSession,
    reply: FastifyReply,
    { request, number, typedAnswer }: PracticeRequest,
  ): Promise<SendResponse> {
    const words = await listPractice(session)
    const word = words[number - 1]
    const kind = word === undefined ? undefined : definedKind(word)
    const example = kind?.examples.find(({ responseType }) => responseType === word)
    if (!kind || !example) return () => reply.redirect(`${INVITATION_PATH}/${request.params.token}`, 303)
    const { microphone, camera } = await findNeeds(session.ctx, session.invite, null)
    const view = viewOf(session, request, settings)
    const page = practicePage(view, {
      kind,
      example,
      number,
      of: words.length,
      typedAnswer,
      records: microphone || camera,
    })
    return () => sendPage(reply, 200, page)
  }
}
