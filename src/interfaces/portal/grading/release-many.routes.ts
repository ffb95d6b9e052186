import type { FastifyInstance, FastifyRequest } from 'fastify'
import { listAssessmentChoices } from '../../../domain/invites/form-options.ts'
import { MAX_COMMENT_LENGTH } from '../../../domain/limits.ts'
import { listReady, MAX_RELEASED_AT_ONCE, releaseMany } from '../../../domain/submissions/grading/release-many.ts'
import { isUuid } from '../../../domain/text/uuid.ts'
import { readNameFilter } from '../kit/choices.ts'
import { type Form, readFields } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { queryOf } from '../kit/paging.ts'
import { RELEASE_MANY, releaseManyPage } from './release-many.page.ts'

/** The message with 12 bytes per form-encoded character, the selected results, and the other fields. */
const BODY_LIMIT = MAX_COMMENT_LENGTH * 12 + MAX_RELEASED_AT_ONCE * 80 + 8 * 1024

export function releaseManyRoutes(app: FastifyInstance): void {
  app.get(`/${RELEASE_MANY}`, async (request, reply) =>
    show(request, reply, await page(request, { values: queryOf(request), issues: [] })),
  )

  app.post(`/${RELEASE_MANY}`, { bodyLimit: BODY_LIMIT }, (request, reply) =>
    submitOnce(request, reply, {
      isRepeatable: true,
      page: (form) => page(request, form),
      async work(ctx, values) {
        const { assessment, message } = readFields(values, 'assessment', 'message')
        const toCandidate = values.has('toCandidate')
        const { released, kept } = await releaseMany(ctx, { results: readResults(values), message: message.trim(), toCandidate })
        const query = new URLSearchParams({ ...(assessment && { assessment }), released: String(released), kept: String(kept) })
        return `${pathOf(ctx, RELEASE_MANY)}?${query}`
      },
    }),
  )
}

/** Each value has an id and the points that the page showed. */
const readResults = (values: URLSearchParams): { submissionId: string; seenPoints: number }[] =>
  [...new Set(values.getAll('results'))].flatMap((result) => {
    const [submissionId = '', points] = result.split(':')
    return isUuid(submissionId) ? [{ submissionId, seenPoints: Number(points) }] : []
  })

async function page({ ctx }: FastifyRequest, form: Form) {
  const { assessment, released, kept } = readFields(form.values, 'assessment', 'released', 'kept')
  const ready = await listReady(ctx, isUuid(assessment) ? assessment : undefined)
  const assessments = await listAssessmentChoices(ctx, { named: readNameFilter(form.values), chosenIds: [assessment] })
  const done = /^\d{1,3}$/.test(released) ? { released: Number(released), kept: Number(kept) || 0 } : null
  return releaseManyPage(form, { ctx, assessments, ready, done })
}
