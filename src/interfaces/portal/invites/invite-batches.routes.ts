import type { FastifyInstance, FastifyRequest } from 'fastify'
import { BATCH_ROW_STATES, createBatch, getBatch, listBatches, listBatchRows } from '../../../domain/invites/batches/batches.ts'
import { discardBatch, resumeBatch, startBatch, stopBatch } from '../../../domain/invites/batches/control-batch.ts'
import { findMissingTags } from '../../../domain/invites/batches/missing-tags.ts'
import { planMails } from '../../../domain/invites/batches/plan-mails.ts'
import { readTermNames } from '../../../domain/invites/batches/term-names.ts'
import { readFollowUp } from '../../../domain/invites/bulk/follow-up.ts'
import { areListsPaused, resumeLists } from '../../../domain/invites/dead-addresses.ts'
import { listChoices } from '../../../domain/invites/form-options.ts'
import { MAX_BATCH_BYTES, MAX_BATCH_ROWS, MAX_PAGE_SIZE } from '../../../domain/limits.ts'
import { readUpload } from '../../../uploads/read-upload.ts'
import { readNameFilter } from '../kit/choices.ts'
import { emptyForm, type Form, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf, readPage } from '../kit/paging.ts'
import { FILE_NAME, readUploads } from '../kit/uploads.ts'
import { requireRight } from '../sign-in/turn-away.ts'
import { batchPage, isRunning } from './invite-batch.page.ts'
import { inviteBatchesPage } from './invite-batches.page.ts'
import { readTerms, selectedIds } from './new-invite.page.ts'

type BatchRoute = { Params: { batchId: string } }

/** Form encoding makes a pasted list up to three times as long. */
const BODY_LIMIT = 3 * MAX_BATCH_BYTES + 256 * 1024

/** Most characters of a refused list that the page shows again. */
const MAX_SHOWN_LIST = 100_000

export function inviteBatchesRoutes(app: FastifyInstance): void {
  app.get('/invites/batches', async (request, reply) => show(request, reply, await batchesPage(request, emptyForm)))

  app.register(async (uploads) => {
    // Checked before the body is read: it may be megabytes.
    requireRight(uploads, 'invite')
    readUploads(uploads)
    uploads.post('/invites/batches', { bodyLimit: BODY_LIMIT }, (request, reply) =>
      submit(request, reply, {
        page: (form) => batchesPage(request, withoutLongList(form)),
        async work(values) {
          const { assessmentId, file, list } = readFields(values, 'assessmentId', 'file', 'list')
          const bytes = Buffer.from(file || list)
          const readList = readUpload(request.ctx.organization.id, { content: 'candidates', bytes, maxRows: MAX_BATCH_ROWS })
          const id = await createBatch(request.ctx, {
            assessmentId,
            readList,
            terms: readTerms(values),
            fileName: file ? (values.get(FILE_NAME) ?? '') : '',
          })
          return pathOf(request.ctx, `invites/batches/${id}`)
        },
      }),
    )
  })

  app.get<BatchRoute>('/invites/batches/:batchId', async (request, reply) => {
    const { ctx, params } = request
    const values = queryOf(request)
    const state = BATCH_ROW_STATES.find((known) => known === values.get('state'))
    const batch = await getBatch(ctx, params.batchId)
    const list = await listBatchRows(ctx, batch, state, readPage(values, MAX_PAGE_SIZE), { areFaultsFirst: true })
    if (isRunning(batch)) reply.header('refresh', '3')
    const names = await readTermNames(ctx, [batch.terms, ...list.items.map(({ terms }) => terms)])
    const isPaused = batch.stoppedAt !== null && ctx.mode === 'live' && (await areListsPaused(ctx))
    const plan = batch.startedAt ? null : await planMails(ctx, batch)
    const followUp = await readFollowUp(ctx, batch)
    const missingTags = batch.startedAt ? null : await findMissingTags(ctx, batch.id)
    return show(request, reply, batchPage({ ctx, batch, list, names, values, isPaused, plan, followUp, missingTags }))
  })

  for (const [action, work] of [
    ['start', startBatch],
    ['stop', stopBatch],
    ['resume', resumeBatch],
    ['discard', discardBatch],
  ] as const)
    app.post<BatchRoute>(`/invites/batches/:batchId/${action}`, (request, reply) =>
      submit(request, reply, {
        page: (form) => batchesPage(request, form),
        async work(values) {
          if (action === 'resume' && values.has('sure')) await resumeLists(request.ctx)
          await work(request.ctx, request.params.batchId, {
            isConfirmed: values.has('sure'),
            createsTags: values.has('createTags'),
          })
          return pathOf(request.ctx, action === 'discard' ? 'invites/batches' : `invites/batches/${request.params.batchId}`)
        },
      }),
    )
}

/** Drops a long list from a refused form: rendering megabytes would block other requests, and nobody reads them there. */
function withoutLongList(form: Form): Form {
  if ((form.values.get('list') ?? '').length <= MAX_SHOWN_LIST) return form
  const values = new URLSearchParams(form.values)
  values.delete('list')
  return { ...form, values }
}

async function batchesPage(request: FastifyRequest, form: Form) {
  const { ctx } = request
  const query = queryOf(request)
  const named = readNameFilter(query)
  const assessmentId = query.get('assessment') ?? ''
  const choices = await listChoices(ctx, { named, chosenIds: [...selectedIds(form.values), assessmentId] })
  return inviteBatchesPage(form, { ctx, batches: await listBatches(ctx), choices, named, assessmentId })
}
