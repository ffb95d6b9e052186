import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorize } from '../../../domain/access/permissions.ts'
import { DomainError } from '../../../domain/errors.ts'
import { startBulkChange } from '../../../domain/invites/bulk/bulk-changes.ts'
import { countChosen, previewPeople } from '../../../domain/invites/bulk/choose-invites.ts'
import { ERASE_PEOPLE } from '../invites/bulk.page.ts'
import { chosenFields, orNothing, readWhich } from '../invites/bulk.routes.ts'
import { readNumber } from '../invites/new-invite.page.ts'
import { FILTERS, findFilterChoices } from '../invites/read-filter.ts'
import { type Form, readFields } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { queryOf } from '../kit/paging.ts'
import { erasePeoplePage } from './erase-people.page.ts'

const NOBODY = { erasable: [], started: [], others: [] }

export function erasePeopleRoutes(app: FastifyInstance): void {
  app.get(`/${ERASE_PEOPLE}`, async (request, reply) =>
    show(request, reply, await page(request, { values: queryOf(request), issues: [] })),
  )

  app.post(`/${ERASE_PEOPLE}`, { config: { fresh: true } }, (request, reply) => {
    authorize(request.ctx, 'erase_candidates')
    return submitOnce(request, reply, {
      page: (form) => page(request, form),
      async work(ctx, values) {
        if (!values.has('sure')) throw new DomainError('invalid', { issues: [{ field: 'sure', rule: 'required' }] })
        const id = await startBulkChange(ctx, {
          action: 'erase',
          given: { includesStarted: values.has('includesStarted') },
          which: readWhich(ctx, values),
          most: readNumber(readFields(values, 'most').most) ?? 0,
        })
        return pathOf(ctx, `invites/changes/${id}`)
      },
    })
  })
}

/** Nobody is shown before a filter is chosen. */
async function page({ ctx }: FastifyRequest, form: Form) {
  authorize(ctx, 'erase_candidates')
  const { values } = form
  const hasIds = values.has('id') && values.get('all') !== 'yes'
  const hasFilter = values.get('all') === 'yes' && FILTERS.some((name) => values.get(name))
  const which = readWhich(ctx, values)
  const isAsked = hasIds || hasFilter
  const preview = isAsked ? await orNothing(previewPeople(ctx, which), NOBODY) : NOBODY
  const statuses = isAsked ? await orNothing(countChosen(ctx, which), new Map<string, number>()) : new Map<string, number>()
  const most = [...statuses.values()].reduce((sum, count) => sum + count, 0)
  const choices = hasIds ? null : await findFilterChoices(ctx, values)
  return erasePeoplePage(form, { ctx, preview, most, chosen: chosenFields(values), choices })
}
