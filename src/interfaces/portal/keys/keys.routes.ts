import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Context } from '../../../domain/context.ts'
import { DomainError } from '../../../domain/errors.ts'
import {
  type AnswerKeyChange,
  type CorrectableVersion,
  correctKey,
  getCorrectable,
  isRunning,
  RELEASES,
  resumeCorrection,
} from '../../../domain/submissions/corrections/correct-key.ts'
import { listUnchanged, UNCHANGED_REASONS } from '../../../domain/submissions/corrections/list-unchanged.ts'
import { previewCorrection } from '../../../domain/submissions/corrections/preview.ts'
import { acceptAnswer, listUnacceptedAnswers } from '../../../domain/submissions/corrections/unaccepted-answers.ts'
import { authorOf, readDefinition } from '../../../kinds/authors.ts'
import { applyRowChange, changesRows, toKindPart } from '../assessments/kind-form.ts'
import { emptyForm, type Form, readFields, submit, valuesOf } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { queryOf, readPage } from '../kit/paging.ts'
import { keyPage } from './key.page.ts'
import { correctionPreviewPage } from './preview.page.ts'

type KeyRoute = { Params: { versionId: string } }

const LISTED = 50

/** Answer keys of questions that were used. */
export function keysRoutes(app: FastifyInstance): void {
  app.get<KeyRoute>('/keys/:versionId', async (request, reply) => {
    const version = await getCorrectable(request.ctx, request.params.versionId)
    if (version.keys[0] && isRunning(version.keys[0])) reply.header('refresh', '3')
    return show(request, reply, await readPageOf(request, emptyForm, version))
  })

  app.post<KeyRoute>('/keys/:versionId/preview', async (request, reply) => {
    const { ctx, params } = request
    const page = async (form: Form) => readPageOf(request, form, await getCorrectable(ctx, params.versionId))
    const sent = valuesOf(request)
    if (changesRows(sent)) return show(request, reply, await page(applyRowChange(ctx, sent)))
    return submit(request, reply, {
      page,
      async work(values) {
        const version = await getCorrectable(ctx, params.versionId)
        const change = readChange(ctx, version, values)
        const preview = await previewCorrection(ctx, params.versionId, change)
        return correctionPreviewPage(ctx, { version, change, preview, values })
      },
    })
  })

  app.post<KeyRoute>('/keys/:versionId', (request, reply) =>
    submitOnce(request, reply, {
      page: async (form) => readPageOf(request, form, await getCorrectable(request.ctx, request.params.versionId)),
      async work(ctx, values) {
        const { versionId } = request.params
        const change = readChange(ctx, await getCorrectable(ctx, versionId), values)
        const releases = RELEASES.find((known) => known === values.get('releases')) ?? 'raise'
        await correctKey(ctx, versionId, { ...change, releases, seen: Number(values.get('seen')) })
        return pathOf(ctx, `keys/${versionId}`)
      },
    }),
  )

  app.post<KeyRoute>('/keys/:versionId/resume', async (request, reply) => {
    await resumeCorrection(request.ctx, request.params.versionId)
    return reply.redirect(pathOf(request.ctx, `keys/${request.params.versionId}`), 303)
  })
}

async function readPageOf(request: FastifyRequest<KeyRoute>, form: Form, version: CorrectableVersion) {
  const { ctx } = request
  const query = queryOf(request)
  const { versionId, responseType, spec, newest } = version
  const outcome = UNCHANGED_REASONS.find((known) => known === query.get('list')) ?? 'decided'
  const isTyped = form.values.has('row')
  const values = isTyped ? form.values : new URLSearchParams()
  const kind = toKindPart(ctx, { responseType, spec, key: newest.key }, values)
  const unaccepted = await listUnacceptedAnswers(ctx, version)
  const filter = { versionId, keyNumber: newest.number, outcome }
  const unchanged = await listUnchanged(ctx, filter, readPage(query, LISTED))
  return keyPage(form, { ctx, version, kind, unaccepted, outcome, unchanged, query })
}

/** Reads an additional accepted answer, or the whole key. @throws DomainError invalid. */
function readChange(ctx: Context, version: CorrectableVersion, values: URLSearchParams): AnswerKeyChange {
  const { effect, reason, accept, share } = readFields(values, 'effect', 'reason', 'accept', 'share')
  const createError = (field: string, text: string) =>
    new DomainError('invalid', { issues: [{ field, rule: 'malformed', text }] })
  if (values.has('accept')) {
    if (!/^(100|[1-9]\d?)$/.test(share.trim())) throw createError('unaccepted', 'Enter whole percent from 1 to 100.')
    const key = acceptAnswer(ctx, version, accept, Number(share))
    if (key === undefined) throw createError('unaccepted', 'This answer can’t be accepted on its own. Correct the key instead.')
    return { effect: 'key', key, reason: reason.trim() }
  }
  const { newest, responseType } = version
  if (effect === 'full' || effect === 'none') return { effect, key: newest.key, reason: reason.trim() }
  if (!authorOf(responseType)) throw createError('effect', 'This answer format no longer exists.')
  const { definition, faults } = readDefinition(responseType, values)
  const issues = faults.map(({ field, text }) => ({ field, rule: 'malformed' as const, text }))
  if (issues.length > 0) throw new DomainError('invalid', { issues })
  return { effect: 'key', key: definition.key, reason: reason.trim() }
}
