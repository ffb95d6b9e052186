import type { FastifyInstance, FastifyRequest } from 'fastify'
import { findAssessments } from '../../../domain/assessments/assessments.ts'
import { readWarnings } from '../../../domain/assessments/read-warnings.ts'
import { authorize } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { DomainError, type Issue } from '../../../domain/errors.ts'
import { omitUndefined } from '../../../domain/fields/omit-undefined.ts'
import { completeTerms } from '../../../domain/invites/assessment-terms.ts'
import { createInvite } from '../../../domain/invites/create-invite.ts'
import { listChoices } from '../../../domain/invites/form-options.ts'
import { wholeInvite } from '../../../domain/invites/invites.ts'
import { countUndelivered } from '../../../domain/invites/listing/count-undelivered.ts'
import type { InviteFilter } from '../../../domain/invites/listing/invite-filter.ts'
import { listInvites } from '../../../domain/invites/listing/list-invites.ts'
import { findRowExtras } from '../../../domain/invites/listing/row-extras.ts'
import { readStateCounts, type StateCounts } from '../../../domain/invites/overview/count-states.ts'
import { deleteSavedFilter, listSavedFilters, saveFilter } from '../../../domain/invites/saved-filters.ts'
import { findSuppression, formatSuppressionReason } from '../../../domain/invites/suppressions.ts'
import { readAssessmentHead } from '../assessments/assessment-head.ts'
import { assessmentWarnings } from '../assessments/cautions.ts'
import { readNameFilter } from '../kit/choices.ts'
import { emptyForm, type Form, readFields } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { pageSizeOf, queryOf, readPage, readSort } from '../kit/paging.ts'
import { mayReadInvites } from '../kit/sidebar.ts'
import { rethrowAsFormIssue } from './form-issues.ts'
import { INVITE_ORDERS } from './invite-list.ts'
import { assessmentInvitesPage, invitesPage } from './invites.page.ts'
import { newInvitePage, readTerms, selectedIds } from './new-invite.page.ts'
import { findFilterChoices, readInviteFilter } from './read-filter.ts'
import { savedQuery } from './saved-filters.ts'

export function invitesRoutes(app: FastifyInstance): void {
  app.get('/invites', async (request, reply) => {
    const page = await listPage(request, { values: queryOf(request), issues: [] })
    return show(request, reply, page, page.isRefused ? 422 : 200)
  })

  app.get<{ Params: { assessmentId: string } }>('/assessments/:assessmentId/invites', async (request, reply) => {
    authorize(request.ctx, 'read')
    const headed = await readAssessmentHead(request.ctx, request.params.assessmentId)
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
        if (!values.has('unmailed') && (await explainMissingMail(ctx, values)))
          throw new DomainError('invalid', { issues: [SUPPRESSED] })
        const { id } = await createInvite(ctx, { assessmentId, ...recipient, ...terms }).catch(rethrowAsFormIssue)
        return `${pathOf(ctx, `invites/${id}`)}?done=invited`
      },
    }),
  )

  savedFilterRoutes(app)
}

const SUPPRESSED: Issue = { field: 'recipientEmail', rule: 'account', problem: 'suppressed' }

/** Reason why no mail would be sent; undefined if it would. */
async function explainMissingMail(ctx: Context, values: URLSearchParams): Promise<string | undefined> {
  const address = readFields(values, 'recipientEmail').recipientEmail.trim()
  if (address === '' || !values.has('sendEmail')) return undefined
  const suppression = await findSuppression(ctx, ctx.mode === 'test' ? 'test' : 'live', address)
  return suppression ? formatSuppressionReason(suppression.reason) : undefined
}

/** Form for the chosen assessment, or the one in the address. */
async function newPage(request: FastifyRequest, form: Form) {
  const { ctx } = request
  authorize(ctx, 'invite')
  const query = queryOf(request)
  const named = readNameFilter(query)
  const assessmentId = query.get('assessment') ?? ''
  const choices = await listChoices(ctx, { named, chosenIds: [...selectedIds(form.values), assessmentId] })
  const [assessment] = await findAssessments(ctx, [assessmentId])
  const cautions =
    assessment !== undefined &&
    assessmentWarnings({ ...(await readWarnings(ctx, assessment)), open: 0 }, assessment.questionCount)
  const suppressed = await explainMissingMail(ctx, form.values)
  return newInvitePage(form, { ctx, choices, named, assessmentId, cautions, suppressed })
}

/** @param saving form that saves the filter. */
async function listPage(request: FastifyRequest, form: Form, saving: Form = emptyForm) {
  const { found, facts, isRefused } = await readInvites(request, form)
  const page = invitesPage(found, { ...facts, saved: await listSavedFilters(request.ctx), saving })
  return { ...page, isRefused }
}

/** @param assessment limits the list to its invites. */
async function readInvites(request: FastifyRequest, { values }: Form, assessment?: { id: string }) {
  const { ctx } = request
  const listValues = new URLSearchParams(values)
  if (assessment) listValues.set('assessment', assessment.id)
  const choices = await findFilterChoices(ctx, listValues)
  const filter = readInviteFilter(ctx, listValues, choices.assessments)
  const counts = filter && (await countTabs(ctx, filter))
  const undelivered = counts ? await countUndelivered(ctx, filter?.assessmentId) : undefined
  const facts = { ctx, choices, counts, undelivered, ...(assessment && { assessment }) }
  try {
    const order = INVITE_ORDERS[readSort(values, INVITE_ORDERS)]!
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

function savedFilterRoutes(app: FastifyInstance): void {
  app.post('/invites/filters', (request, reply) => {
    if (!mayReadInvites(request.ctx)) throw new DomainError('not_permitted')
    const queryIn = (values: URLSearchParams) => new URLSearchParams(readFields(values, 'query').query)
    return submitOnce(request, reply, {
      page: (form) => listPage(request, { values: queryIn(form.values), issues: [] }, form),
      async work(ctx, values) {
        const query = savedQuery(queryIn(values))
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

/** Counts for the tabs, which are stored only without filters other than the assessment. */
async function countTabs(
  ctx: Context,
  { status: _, isUndelivered: __, assessmentId, ...otherFilters }: InviteFilter,
): Promise<StateCounts | null> {
  return Object.keys(otherFilters).length === 0 ? readStateCounts(ctx, omitUndefined({ assessmentId })) : null
}
