import type { FastifyInstance, FastifyRequest } from 'fastify'
import { findAssessments } from '../../../domain/assessments/assessments.ts'
import { readCautions } from '../../../domain/assessments/cautions.ts'
import { authorize } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { DomainError, type Issue } from '../../../domain/errors.ts'
import { completeTerms } from '../../../domain/invites/assessment-terms.ts'
import { createInvite } from '../../../domain/invites/create-invite.ts'
import { listChoices } from '../../../domain/invites/form-options.ts'
import { wholeInvite } from '../../../domain/invites/invites.ts'
import { countUndelivered } from '../../../domain/invites/listing/count-undelivered.ts'
import type { InviteFilter } from '../../../domain/invites/listing/filter.ts'
import { listInvites } from '../../../domain/invites/listing/list-invites.ts'
import { findRowExtras } from '../../../domain/invites/listing/row-extras.ts'
import { readStates, type StateCounts } from '../../../domain/invites/overview/count-states.ts'
import { deleteSavedFilter, listSavedFilters, saveFilter } from '../../../domain/invites/saved-filters.ts'
import { findSuppression, wordSuppression } from '../../../domain/invites/suppressions.ts'
import { defined } from '../../../domain/values/defined.ts'
import { readHead } from '../assessments/assessment-head.ts'
import { cautionsShown } from '../assessments/cautions.ts'
import { readNamed } from '../kit/choices.ts'
import { emptyForm, type Form, readFields } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { pageSizeOf, queryOf, readPage, readSort } from '../kit/paging.ts'
import { mayReadInvites } from '../kit/sidebar.ts'
import { orders } from './invite-list.ts'
import { assessmentInvitesPage, invitesPage } from './invites.page.ts'
import { chosenIn, newInvitePage, readTerms } from './new-invite.page.ts'
import { findFilterChoices, readInviteFilter } from './read-filter.ts'
import { keptQuery } from './saved-filters.ts'
import { sayInForm } from './say-in-form.ts'

export function invitesRoutes(app: FastifyInstance): void {
  app.get('/invites', async (request, reply) => {
    const page = await listPage(request, { values: queryOf(request), issues: [] })
    return show(request, reply, page, page.isRefused ? 422 : 200)
  })

  app.get<{ Params: { assessmentId: string } }>('/assessments/:assessmentId/invites', async (request, reply) => {
    authorize(request.ctx, 'read')
    const headed = await readHead(request.ctx, request.params.assessmentId)
    const { found, facts, isRefused } = await readInvites(request, { values: queryOf(request), issues: [] }, headed.assessment)
    return show(request, reply, assessmentInvitesPage(found, headed, facts), isRefused ? 422 : 200)
  })

  app.get('/invites/new', async (request, reply) => show(request, reply, await newPage(request, emptyForm)))

  app.post('/invites', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => newPage(request, form),
      async work(ctx, values) {
        const { recipientEmail, recipientName, assessmentId } = readFields(
          values,
          'recipientEmail',
          'recipientName',
          'assessmentId',
        )
        const recipient = { recipientEmail: recipientEmail.trim(), recipientName: recipientName.trim() || null }
        const terms = await completeTerms(ctx, assessmentId, readTerms(values))
        if (!values.has('unmailed') && (await whyUnmailed(ctx, values)))
          throw new DomainError('invalid', { issues: [SUPPRESSED] })
        const { id } = await createInvite(ctx, { assessmentId, ...recipient, ...terms }).catch(sayInForm)
        return `${pathOf(ctx, `invites/${id}`)}?done=invited`
      },
    }),
  )

  savedFilterRoutes(app)
}

const SUPPRESSED: Issue = { field: 'recipientEmail', rule: 'account', problem: 'suppressed' }

/** Why nothing would be mailed to who is to be invited by mail; undefined: it would. */
async function whyUnmailed(ctx: Context, values: URLSearchParams): Promise<string | undefined> {
  const address = readFields(values, 'recipientEmail').recipientEmail.trim()
  if (address === '' || !values.has('sendEmail')) return undefined
  const found = await findSuppression(ctx, ctx.mode === 'test' ? 'test' : 'live', address)
  return found ? wordSuppression(found.reason) : undefined
}

/** For the assessment that was chosen, or that the address asks for. */
async function newPage(request: FastifyRequest, form: Form) {
  const { ctx } = request
  authorize(ctx, 'invite')
  const query = queryOf(request)
  const named = readNamed(query)
  const assessmentId = query.get('assessment') ?? ''
  const choices = await listChoices(ctx, { named, chosenIds: [...chosenIn(form.values), assessmentId] })
  const [assessment] = await findAssessments(ctx, [assessmentId])
  const cautions =
    assessment !== undefined && cautionsShown({ ...(await readCautions(ctx, assessment)), open: 0 }, assessment.questionCount)
  const suppressed = await whyUnmailed(ctx, form.values)
  return newInvitePage(form, { ctx, choices, named, assessmentId, cautions, suppressed })
}

/** @param saving what was typed to keep the filter. */
async function listPage(request: FastifyRequest, form: Form, saving: Form = emptyForm) {
  const { found, facts, isRefused } = await readInvites(request, form)
  const page = invitesPage(found, { ...facts, saved: await listSavedFilters(request.ctx), saving })
  return { ...page, isRefused }
}

/** The list that the address, or what was typed, asks for. @param of the assessment to whose invites it is limited. */
async function readInvites(request: FastifyRequest, { values }: Form, of?: { id: string }) {
  const { ctx } = request
  const limited = new URLSearchParams(values)
  if (of) limited.set('assessment', of.id)
  const choices = await findFilterChoices(ctx, limited)
  const filter = readInviteFilter(ctx, limited, choices.assessments)
  const counts = filter && (await countTabs(ctx, filter))
  const undelivered = counts ? await countUndelivered(ctx, filter?.assessmentId) : undefined
  const facts = { ctx, choices, counts, undelivered, ...(of && { of }) }
  try {
    const order = orders[readSort(values, orders)]!
    const list = filter && (await listInvites(ctx, wholeInvite, filter, order, readPage(values, pageSizeOf(request))))
    const extras = await findRowExtras(ctx, list?.items ?? [])
    return { found: { values, issues: [] }, facts: { ...facts, list, extras }, isRefused: false }
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== 'invalid') throw error
    const issues = error.issues.map((issue) => (issue.field === 'recipient' ? { ...issue, field: 'search' } : issue))
    const extras = await findRowExtras(ctx, [])
    return { found: { values, issues }, facts: { ...facts, list: null, extras }, isRefused: true }
  }
}

/** What narrows the list, kept under a name. */
function savedFilterRoutes(app: FastifyInstance): void {
  app.post('/invites/filters', (request, reply) => {
    if (!mayReadInvites(request.ctx)) throw new DomainError('not_permitted')
    const asked = (values: URLSearchParams) => new URLSearchParams(readFields(values, 'query').query)
    return submitOnce(request, reply, {
      page: (form) => listPage(request, { values: asked(form.values), issues: [] }, form),
      async work(ctx, values) {
        const query = keptQuery(asked(values))
        const name = readFields(values, 'filterName').filterName
        await saveFilter(ctx, { name, query, isShared: values.get('shared') === 'yes' })
        return `${pathOf(ctx, 'invites')}?${query}`
      },
    })
  })

  app.post<{ Params: { filterId: string } }>('/invites/filters/:filterId/delete', async (request, reply) => {
    if (!mayReadInvites(request.ctx)) throw new DomainError('not_permitted')
    await deleteSavedFilter(request.ctx, request.params.filterId)
    return reply.redirect(pathOf(request.ctx, 'invites'), 303)
  })
}

/** How many invites each tab has, where that is kept: under no other filter than an assessment's. */
async function countTabs(
  ctx: Context,
  { status: _, isUndelivered: __, assessmentId, ...others }: InviteFilter,
): Promise<StateCounts | null> {
  return Object.keys(others).length === 0 ? readStates(ctx, defined({ assessmentId })) : null
}
