import cookie from '@fastify/cookie'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Assessment, getAssessment } from '../../../domain/assessments/assessments.ts'
import type { Context } from '../../../domain/context.ts'
import { DomainError } from '../../../domain/errors.ts'
import { listCandidateQuestions } from '../../../domain/invites/candidate-moves.ts'
import { contextOf, findSession } from '../../../domain/sign-in/sessions.ts'
import { PREVIEW_SEGMENT, previewPath, sessionCookie } from '../../../http/addresses/preview.ts'
import { readQuestion } from '../../../http/forms/read-form.ts'
import { candidateHeaders } from '../kit/headers.ts'
import { sendPage } from '../kit/layout.ts'
import type { Options } from '../kit/settings.ts'
import { noPreviewPage, previewPage } from './preview.page.ts'
import { drawPreview } from './preview-paper.ts'
import { follow, PAPERS, printStep, readStep, type Step } from './step.ts'
import { readTypedDefinition, type TypedQuestion } from './try-answer.ts'

/** Largest form: a question with the longest texts. */
const FORM_BODY_LIMIT = 128 * 1024

type Route = { Params: { organizationId: string; assessmentId: string; step: string; form: string } }
type Entered = {
  ctx: Context
  assessment: Assessment
  viewer: { firstName: string; lastName: string; email: string }
  step: Step
}

/**
 * Preview of the candidate's pages for members who may read the assessment: authenticated by their portal session, and only in frames of
 * the portal. The step is in the address; nothing is stored.
 */
export async function previewRoutes(app: FastifyInstance, { system, settings }: Options): Promise<void> {
  await app.register(cookie)
  const headers = candidateHeaders()
  const framed = {
    ...headers,
    'content-security-policy': headers['content-security-policy'].replace("frame-ancestors 'none'", "frame-ancestors 'self'"),
  }
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({ ...framed, 'referrer-policy': 'same-origin' })
  })
  app.setErrorHandler(async (error, _request, reply) => {
    if (!(error instanceof DomainError)) throw error
    return sendPage(reply, 404, noPreviewPage())
  })

  /** @throws DomainError not_permitted, assessment_not_found. */
  async function enter({ cookies, params, ip }: FastifyRequest<Route>): Promise<Entered> {
    const token = cookies[sessionCookie(true)] ?? cookies[sessionCookie(false)]
    const signedIn = token === undefined ? null : await findSession(system, token, { isUse: false })
    const step = readStep(params.step, system.deps.clock().getTime())
    if (!signedIn || !step) throw new DomainError('not_permitted')
    const { organizationId } = params
    const origin = { at: system.deps.clock(), address: ip }
    const ctx = contextOf(system, signedIn, { organizationId, mode: 'live', ...origin })
    const assessment = await getAssessment(ctx, params.assessmentId)
    const { user } = signedIn.memberships.find(({ organization }) => organization.id === ctx.organization.id)!
    return { ctx, assessment, viewer: { ...user, email: signedIn.credential.email }, step }
  }

  app.get<Route>(`/${PREVIEW_SEGMENT}/:organizationId/:assessmentId/:step`, async (request, reply) => {
    const { ctx, ...entered } = await enter(request)
    return sendPage(reply, 200, await previewPage(ctx, settings, { ...entered, request }))
  })

  app.post<Route>(
    `/${PREVIEW_SEGMENT}/:organizationId/:assessmentId/:step/:form`,
    {
      bodyLimit: FORM_BODY_LIMIT,
      // Checked before the body is read.
      async onRequest(request, reply) {
        if (request.headers['sec-fetch-site'] === 'cross-site') throw new DomainError('not_permitted')
        const { ctx } = await enter(request)
        request.bodySource = { organization: ctx.organization.id, sender: ctx.organization.id, answer: reply.raw }
      },
    },
    async (request, reply) => {
      const { ctx, ...entered } = await enter(request)
      const { assessmentId, form } = request.params
      const values = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
      const trial = readShown(form, values)
      if (trial) return sendPage(reply, 200, await previewPage(ctx, settings, { ...entered, ...trial, request }))
      const next = await followForm(ctx, entered, form, values)
      if (!next) return sendPage(reply, 404, noPreviewPage())
      return reply.redirect(previewPath(ctx, assessmentId, printStep(next)), 303)
    },
  )
}

/** The next step. Each start draws another paper. */
async function followForm(
  ctx: Context,
  { assessment, step }: Pick<Entered, 'assessment' | 'step'>,
  form: string,
  values: URLSearchParams,
): Promise<Step | null> {
  const seed = step.at === 'taking' ? step.paper : null
  const where = { organizationId: ctx.organization.id, assessmentId: assessment.id }
  const { sections } =
    seed === null ? { sections: [] } : await drawPreview(ctx, assessment.id, await listCandidateQuestions(ctx, where), seed)
  return follow(step, form, {
    now: ctx.deps.clock().getTime(),
    newPaper: ctx.deps.random(PAPERS),
    leaveTo: values.get('then') ?? '',
    number: Number(values.get('number')),
    sections,
  })
}

/** The edited question and the tried answer, shown at the same step; null if the form leads elsewhere. */
function readShown(form: string, values: URLSearchParams): { typed?: TypedQuestion; typedAnswer?: string[] } | null {
  if (form === 'question') return { typed: readTyped(values) }
  const leaveTo = values.get('then') ?? ''
  if (form !== 'try' && !(form === 'answer' && ['save', 'clear'].includes(leaveTo))) return null
  const typedAnswer = leaveTo === 'clear' ? [] : values.getAll('answer')
  // Without the editor's fields, the stored question is tried.
  return values.has('inputType') ? { typed: readTyped(values), typedAnswer } : { typedAnswer }
}

/** Reads an unsaved question. Invalid numbers become 0. */
function readTyped(values: URLSearchParams): TypedQuestion {
  const question = readQuestion(values)
  const amount = (value: number) => (Number.isSafeInteger(value) && value < 1e9 ? value : 0)
  return {
    ...question,
    points: amount(question.points),
    timeLimit: amount(question.timeLimit),
    preparationTime: amount(question.preparationTime),
    defined: readTypedDefinition(values),
  }
}
