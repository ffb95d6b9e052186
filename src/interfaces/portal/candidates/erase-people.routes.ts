import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorize } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { DomainError } from '../../../domain/errors.ts'
import { startBulkChange } from '../../../domain/invites/bulk/bulk-changes.ts'
import {
  countSelectedInvites,
  type ErasurePreview,
  type InviteSelection,
  previewErasure,
} from '../../../domain/invites/bulk/choose-invites.ts'
import { throwIfIssues } from '../../../domain/validation/throw-if-issues.ts'
import { changePathOf, ERASE_PEOPLE } from '../invites/bulk.page.ts'
import { readSelection, selectionFields } from '../invites/bulk.routes.ts'
import { readNumber } from '../invites/new-invite.page.ts'
import { findFilterChoices } from '../invites/read-filter.ts'
import { type Form, issuesOf, readFields } from '../kit/forms.ts'
import { show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { queryOf } from '../kit/paging.ts'
import { RECENT_AUTHENTICATION } from '../kit/recent-authentication.ts'
import { erasePeoplePage } from './erase-people.page.ts'

export function erasePeopleRoutes(app: FastifyInstance): void {
  app.get(`/${ERASE_PEOPLE}`, async (request, reply) =>
    show(request, reply, await page(request, { values: queryOf(request), issues: [] })),
  )

  app.post(`/${ERASE_PEOPLE}`, RECENT_AUTHENTICATION, (request, reply) => {
    authorize(request.ctx, 'erase_candidates')
    return submitOnce(request, reply, {
      page: (form) => page(request, form),
      async work(ctx, values) {
        if (!values.has('sure')) throw new DomainError('invalid', { issues: [{ field: 'sure', rule: 'required' }] })
        const { most, seen } = readFields(values, 'most', 'seen')
        const selection = readSelection(ctx, values)
        throwIfIssues(isNarrowed(selection) ? [] : [{ field: '', rule: 'account', problem: 'noneChosen' }])
        const id = await startBulkChange(ctx, {
          action: 'erase',
          params: { includesStarted: values.has('includesStarted') },
          selection,
          most: readNumber(most) ?? 0,
          fingerprint: seen || undefined,
        })
        return changePathOf(ctx, id, values)
      },
    })
  })
}

/** True for selected invites, or a filter that excludes some: without a filter, nothing is erased. */
const isNarrowed = (selection: InviteSelection): boolean =>
  'ids' in selection ? selection.ids.length > 0 : Object.keys(selection.filter).length > 0

/** Never shows the confirmation as ticked: the people may have changed since. */
async function page({ ctx }: FastifyRequest, { values: formValues, issues }: Form) {
  authorize(ctx, 'erase_candidates')
  const values = new URLSearchParams(formValues)
  values.delete('sure')
  const selection = readSelection(ctx, values)
  const result = isNarrowed(selection) ? await readPreview(ctx, selection) : NO_PREVIEW
  const choices = values.has('id') && 'ids' in selection ? null : await findFilterChoices(ctx, values)
  const form = { values, issues: issues.length > 0 ? issues : result.issues }
  return erasePeoplePage(form, { ctx, preview: result.preview, most: result.most, chosen: selectionFields(values), choices })
}

/** @property preview null if no filter is chosen, or the filter is refused. */
type PreviewResult = { preview: ErasurePreview | null; most: number; issues: Form['issues'] }
const NO_PREVIEW: PreviewResult = { preview: null, most: 0, issues: [] }

async function readPreview(ctx: Context, selection: InviteSelection): Promise<PreviewResult> {
  try {
    const preview = await previewErasure(ctx, selection)
    const counts = await countSelectedInvites(ctx, selection)
    return { preview, most: [...counts.values()].reduce((sum, count) => sum + count, 0), issues: [] }
  } catch (error) {
    return { ...NO_PREVIEW, issues: issuesOf(error) }
  }
}
