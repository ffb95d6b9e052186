import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorize } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { DomainError } from '../../../domain/errors.ts'
import {
  BULK_ACTIONS,
  BULK_ROW_STATES,
  type BulkAction,
  getBulkChange,
  listBulkChangeRows,
  listBulkChanges,
  resumeBulkChange,
  startBulkChange,
  stopBulkChange,
} from '../../../domain/invites/bulk/bulk-changes.ts'
import { type BulkParams, parseParams } from '../../../domain/invites/bulk/bulk-params.ts'
import {
  countSelectedInvites,
  type ExtensionPreview,
  type InviteSelection,
  previewExtension,
} from '../../../domain/invites/bulk/choose-invites.ts'
import { readDecisionNames } from '../../../domain/invites/decisions/decision-names.ts'
import { type Choice, listGraderChoices, listTagChoices } from '../../../domain/invites/form-options.ts'
import { wholeInvite } from '../../../domain/invites/invites.ts'
import type { InviteFilter } from '../../../domain/invites/listing/invite-filter.ts'
import { listInvites } from '../../../domain/invites/listing/list-invites.ts'
import { MAX_BATCH_ROWS } from '../../../domain/limits.ts'
import { findMembers } from '../../../domain/members/members.ts'
import { findResultInviteIds } from '../../../domain/submissions/grading/result-list.ts'
import { findTags } from '../../../domain/tags/tags.ts'
import { displayNameOf } from '../../../domain/text/display-name.ts'
import { isUuid } from '../../../domain/text/uuid.ts'
import { readText } from '../../../http/forms/read-form.ts'
import { type Form, issuesOf, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { pageSizeOf, queryOf, readPage } from '../kit/paging.ts'
import { bulkChangePage, bulkChangesPage, changePathOf, isInProgress, newBulkChangePage } from './bulk.page.ts'
import { readNumber } from './new-invite.page.ts'
import { FILTERS, readInviteFilter } from './read-filter.ts'
import { RESULT_FILTERS, readResultFilter } from './result-filter.ts'

type ChangeRoute = { Params: { changeId: string } }

/** Seconds between reloads while a change is in progress. */
const REFRESH = '3'

export function bulkRoutes(app: FastifyInstance): void {
  app.get('/invites/changes', async (request, reply) =>
    show(request, reply, bulkChangesPage(request.ctx, await listBulkChanges(request.ctx))),
  )

  app.get('/invites/changes/new', async (request, reply) => {
    authorize(request.ctx, 'operate_invites')
    return show(request, reply, await newPage(request, { values: queryOf(request), issues: [] }))
  })

  app.post('/invites/changes', (request, reply) => {
    authorize(request.ctx, 'operate_invites')
    return submitOnce(request, reply, {
      page: (form) => newPage(request, form),
      async work(ctx, values) {
        const most = readNumber(readFields(values, 'most').most) ?? 0
        const id = await startBulkChange(ctx, {
          action: readAction(values),
          params: readParams(values),
          selection: await findSelection(ctx, values),
          most,
        })
        return changePathOf(ctx, id, values)
      },
    })
  })

  app.get<ChangeRoute>('/invites/changes/:changeId', async (request, reply) => {
    const { ctx, params } = request
    const values = queryOf(request)
    const change = await getBulkChange(ctx, params.changeId)
    const state = BULK_ROW_STATES.find((known) => known === values.get('state'))
    const list = await listBulkChangeRows(ctx, change, state, readPage(values, pageSizeOf(request)))
    if (isInProgress(change)) reply.header('refresh', REFRESH)
    return show(
      request,
      reply,
      bulkChangePage({ ctx, change, list, values, names: await findParameterNames(ctx, parseParams(change)) }),
    )
  })

  for (const [action, work] of [
    ['stop', stopBulkChange],
    ['resume', resumeBulkChange],
  ] as const)
    app.post<ChangeRoute>(`/invites/changes/:changeId/${action}`, (request, reply) =>
      submit(request, reply, {
        page: async () => bulkChangesPage(request.ctx, await listBulkChanges(request.ctx)),
        async work() {
          await work(request.ctx, request.params.changeId)
          return pathOf(request.ctx, `invites/changes/${request.params.changeId}`)
        },
      }),
    )
}

/** Erasing has its own page, which requires a recent sign-in. */
const readAction = (values: URLSearchParams): BulkAction =>
  BULK_ACTIONS.find((known) => known === values.get('action') && known !== 'erase') ?? BULK_ACTIONS[0]

/** The selected invites, or those of the selected results. */
async function findSelection(ctx: Context, values: URLSearchParams): Promise<InviteSelection> {
  if (!isOfResults(values)) return readSelection(ctx, values)
  const filter = isAll(values) ? readResultFilter(values) : { ids: [...new Set(values.getAll('id'))].filter(isUuid) }
  return { ids: await findResultInviteIds(ctx, filter, MAX_BATCH_ROWS + 1) }
}

/** True if results are selected, not invites. */
const isOfResults = (values: URLSearchParams): boolean => values.get('of') === 'results'
const isAll = (values: URLSearchParams): boolean => values.get('all') === 'yes'

/** Members who may run bulk actions may read everything, so the filter is never null. */
export function readSelection(ctx: Context, values: URLSearchParams): InviteSelection {
  if (!isAll(values)) return { ids: [...new Set(values.getAll('id'))] }
  return { filter: readInviteFilter(ctx, values, []) ?? {} }
}

function readParams(values: URLSearchParams): BulkParams {
  const { expiresInDays, tagIds, assignedGraderId, message } = readFields(
    values,
    'expiresInDays',
    'tagIds',
    'assignedGraderId',
    'message',
  )
  const customMessage = readText(values, 'customMessage')
  switch (readAction(values)) {
    case 'extend':
      return readExtension(values)
    case 'reactivate':
      return { expiresInDays: readNumber(expiresInDays) }
    case 'revoke':
      return { includesStarted: values.has('includesStarted'), ...(values.has('email') && { message: message.trim() }) }
    case 'name':
      return { listId: values.get('list') ?? '', sendsAgain: values.has('sendsAgain') }
    case 'tag':
      return { tagId: tagIds }
    case 'assign':
      return { graderId: assignedGraderId || null }
    case 'decide':
      return readFields(values, 'decision', 'note')
    case 'resend':
      return customMessage.trim() === '' ? {} : { message: customMessage }
    default:
      return {}
  }
}

function readExtension(values: URLSearchParams): BulkParams {
  const { expiresOn, addedDays } = readFields(values, 'expiresOn', 'addedDays')
  return values.get('by') === 'days' ? { addedDays: readNumber(addedDays) } : { expiresOn }
}

async function newPage({ ctx }: FastifyRequest, form: Form) {
  const { values } = form
  const action = readAction(values)
  const selection = await fallBackIfRefused(findSelection(ctx, values), { ids: [] })
  const count = 'ids' in selection ? selection.ids.length : await fallBackIfRefused(countMatches(ctx, selection.filter), 0)
  const chosen = selectionFields(values)
  const choices = await listChoices(ctx, action)
  const statuses = action === 'revoke' ? await fallBackIfRefused(countSelectedInvites(ctx, selection), new Map()) : new Map()
  const isAsked = action === 'extend' && values.has('by') && form.issues.length === 0
  const { extension, issues } = isAsked ? await readPreview(ctx, selection, values) : { extension: null, issues: form.issues }
  return newBulkChangePage({ values, issues }, { ctx, action, count, chosen, choices, statuses, extension })
}

async function listChoices(ctx: Context, action: BulkAction): Promise<Choice[]> {
  if (action === 'tag') return listTagChoices(ctx)
  if (action === 'assign') return listGraderChoices(ctx)
  if (action !== 'decide') return []
  return Object.entries(await readDecisionNames(ctx)).map(([id, name]) => ({ id, name }))
}

/** The selection as form fields: ids, or filter. */
export function selectionFields(values: URLSearchParams): [name: string, value: string][] {
  const filters = isOfResults(values) ? RESULT_FILTERS : FILTERS
  const names: string[] = ['of', ...(isAll(values) ? ['all', ...filters] : ['id'])]
  return [...values].filter(([name]) => names.includes(name))
}

type Preview = { extension: ExtensionPreview | null; issues: Form['issues'] }
const readPreview = (ctx: Context, selection: InviteSelection, values: URLSearchParams): Promise<Preview> =>
  previewExtension(ctx, selection, readExtension(values)).then(
    (extension) => ({ extension, issues: [] }),
    (error) => ({ extension: null, issues: issuesOf(error) }),
  )

const countMatches = (ctx: Context, filter: InviteFilter): Promise<number> =>
  listInvites(ctx, wholeInvite, filter, { field: 'sentAt', direction: 'desc' }, { number: 1, size: 1 }).then(({ total }) => total)

/** Returns the fallback if the filter is refused: the mistake is shown when the form is sent. */
const fallBackIfRefused = <T>(reading: Promise<T>, fallback: T): Promise<T> =>
  reading.catch((error) => {
    if (error instanceof DomainError && error.kind === 'invalid') return fallback
    throw error
  })

/** Names of the tag, grader, and decisions in the parameters, by id. */
async function findParameterNames(ctx: Context, { tagId, graderId }: BulkParams): Promise<Map<string, string>> {
  const tags = await findTags(ctx, tagId ? [tagId] : [])
  const graders = await findMembers(ctx, graderId ? [graderId] : [])
  const decisions = Object.entries(await readDecisionNames(ctx))
  return new Map([
    ...decisions.map(([decision, name]): [string, string] => [`decision ${decision}`, name]),
    ...tags.map(({ id, name }): [string, string] => [id, name]),
    ...graders.map(({ id, user, email }): [string, string] => [id, displayNameOf({ ...user, email })]),
  ])
}
