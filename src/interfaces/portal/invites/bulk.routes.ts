import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorize } from '../../../domain/access/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { DomainError } from '../../../domain/errors.ts'
import {
  BULK_ACTIONS,
  BULK_ROW_STATES,
  type BulkAction,
  type Given,
  getBulkChange,
  givenOf,
  listBulkChangeRows,
  listBulkChanges,
  resumeBulkChange,
  startBulkChange,
  stopBulkChange,
  type Which,
} from '../../../domain/invites/bulk/bulk-changes.ts'
import { listGraderChoices, listTagChoices } from '../../../domain/invites/form-options.ts'
import { wholeInvite } from '../../../domain/invites/invites.ts'
import { listInvites } from '../../../domain/invites/listing/list-invites.ts'
import { findMembers } from '../../../domain/members/members.ts'
import { findTags } from '../../../domain/tags/tags.ts'
import { nameOf } from '../../../domain/values/name-of.ts'
import { readText } from '../../../http/forms/read-typed.ts'
import { emptyForm, type Form, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { pageSizeOf, queryOf, readPage } from '../kit/paging.ts'
import { bulkChangePage, bulkChangesPage, isUnderWay, newBulkChangePage } from './bulk.page.ts'
import { readNumber } from './new-invite.page.ts'
import { FILTERS, readInviteFilter } from './read-filter.ts'

type ChangeRoute = { Params: { changeId: string } }

/** Seconds until the page of a change that is under way is loaded again. */
const REFRESH = '3'

export function bulkRoutes(app: FastifyInstance): void {
  app.get('/invites/changes', async (request, reply) =>
    show(request, reply, bulkChangesPage(request.ctx, await listBulkChanges(request.ctx))),
  )

  app.get('/invites/changes/new', async (request, reply) => {
    authorize(request.ctx, 'operate_invites')
    return show(request, reply, await newPage(request, emptyForm, queryOf(request)))
  })

  app.post('/invites/changes', (request, reply) => {
    authorize(request.ctx, 'operate_invites')
    return submitOnce(request, reply, {
      page: (form) => newPage(request, form, form.values),
      async work(ctx, values) {
        const most = readNumber(readFields(values, 'most').most) ?? 0
        const id = await startBulkChange(ctx, {
          action: readAction(values),
          given: readGiven(values),
          which: readWhich(ctx, values),
          most,
        })
        return pathOf(ctx, `invites/changes/${id}`)
      },
    })
  })

  app.get<ChangeRoute>('/invites/changes/:changeId', async (request, reply) => {
    const { ctx, params } = request
    const values = queryOf(request)
    const change = await getBulkChange(ctx, params.changeId)
    const state = BULK_ROW_STATES.find((known) => known === values.get('state'))
    const list = await listBulkChangeRows(ctx, change, state, readPage(values, pageSizeOf(request)))
    if (isUnderWay(change)) reply.header('refresh', REFRESH)
    return show(request, reply, bulkChangePage({ ctx, change, list, values, names: await namesIn(ctx, givenOf(change)) }))
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

const readAction = (values: URLSearchParams): BulkAction =>
  BULK_ACTIONS.find((known) => known === values.get('action')) ?? BULK_ACTIONS[0]

const isAll = (values: URLSearchParams): boolean => values.get('all') === 'yes'

/** Who may do this may read everything, so that there is always something to filter. */
function readWhich(ctx: Context, values: URLSearchParams): Which {
  if (!isAll(values)) return { ids: [...new Set(values.getAll('id'))] }
  return { filter: readInviteFilter(ctx, values, []) ?? {} }
}

function readGiven(values: URLSearchParams): Given {
  const { expiresInDays, tagIds, assignedGraderId } = readFields(values, 'expiresInDays', 'tagIds', 'assignedGraderId')
  const message = readText(values, 'customMessage')
  switch (readAction(values)) {
    case 'extend':
      return { expiresInDays: readNumber(expiresInDays) }
    case 'tag':
      return { tagId: tagIds }
    case 'assign':
      return { graderId: assignedGraderId || null }
    case 'resend':
      return message.trim() === '' ? {} : { message }
    default:
      return {}
  }
}

/** What is to be done, as an address asks for it, or a form that was refused. */
async function newPage({ ctx }: FastifyRequest, form: Form, asked: URLSearchParams) {
  const action = readAction(asked)
  const which = readWhich(ctx, asked)
  const count = 'ids' in which ? which.ids.length : await countMatches(ctx, which)
  const names = isAll(asked) ? ['all', ...FILTERS] : ['id']
  const chosen = [...asked].filter(([name]) => names.includes(name))
  const choices = action === 'tag' ? await listTagChoices(ctx) : action === 'assign' ? await listGraderChoices(ctx) : []
  return newBulkChangePage(form, { ctx, action, count, chosen, choices })
}

/** As the list counts them. 0 where the filter is refused, which is said when it is to be done. */
const countMatches = async (ctx: Context, { filter }: Extract<Which, { filter: unknown }>): Promise<number> =>
  listInvites(ctx, wholeInvite, filter, { field: 'sentAt', direction: 'desc' }, { number: 1, size: 1 }).then(
    ({ total }) => total,
    (error) => {
      if (error instanceof DomainError && error.kind === 'invalid') return 0
      throw error
    },
  )

/** The names of the tag and of the grader that a change gives. */
async function namesIn(ctx: Context, { tagId, graderId }: Given): Promise<Map<string, string>> {
  const tags = await findTags(ctx, tagId ? [tagId] : [])
  const graders = await findMembers(ctx, graderId ? [graderId] : [])
  return new Map([
    ...tags.map(({ id, name }): [string, string] => [id, name]),
    ...graders.map(({ id, user, email }): [string, string] => [id, nameOf({ ...user, email })]),
  ])
}
