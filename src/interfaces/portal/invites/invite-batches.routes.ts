import type { FastifyInstance, FastifyRequest } from 'fastify'
import { storeImportFile } from '../../../domain/imports/import-files.ts'
import {
  BATCH_ROW_STATES,
  checkBatchTerms,
  createBatch,
  getBatch,
  listBatches,
  listBatchRows,
} from '../../../domain/invites/batches/batches.ts'
import { discardBatch, resumeBatch, startBatch, stopBatch } from '../../../domain/invites/batches/control-batch.ts'
import { findMissingTags } from '../../../domain/invites/batches/missing-tags.ts'
import { planMails } from '../../../domain/invites/batches/plan-mails.ts'
import { readTermNames } from '../../../domain/invites/batches/term-names.ts'
import { readFollowUp } from '../../../domain/invites/bulk/follow-up.ts'
import { areListsPaused, resumeLists } from '../../../domain/invites/dead-addresses.ts'
import { listChoices } from '../../../domain/invites/form-options.ts'
import { MAX_BATCH_BYTES, MAX_BATCH_ROWS, MAX_PAGE_SIZE } from '../../../domain/limits.ts'
import { createFileError } from '../../../domain/validation/uploaded-files.ts'
import type { Inspection } from '../../../uploads/inspect.ts'
import { readUpload } from '../../../uploads/read-upload.ts'
import { type Importer, inspectFile, toReadChoices } from '../imports/inspect-file.ts'
import { readNameFilter } from '../kit/choices.ts'
import { emptyForm, type Form, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf, readPage } from '../kit/paging.ts'
import { readUploads } from '../kit/uploads.ts'
import { requireRight } from '../sign-in/turn-away.ts'
import { batchPage, isRunning } from './invite-batch.page.ts'
import { inviteBatchesPage } from './invite-batches.page.ts'
import { readTerms, selectedIds } from './new-invite.page.ts'

type BatchRoute = { Params: { batchId: string } }

const BODY_LIMIT = MAX_BATCH_BYTES + 256 * 1024

/** Most characters of a refused list that the page shows again. */
const MAX_SHOWN_LIST = 100_000

export function inviteBatchesRoutes(app: FastifyInstance): void {
  app.get('/invites/batches', async (request, reply) => show(request, reply, await batchesPage(request, emptyForm)))

  app.register(async (uploads) => {
    // Checked before the body is read: it may be megabytes.
    requireRight(uploads, 'invite')
    readUploads(uploads, 'file')
    uploads.post('/invites/batches', { bodyLimit: BODY_LIMIT }, (request, reply) =>
      submit(request, reply, {
        page: (form) => batchesPage(request, withoutLongList(form)),
        work: (values) => acceptList(request, values),
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

/** @returns address of the check of its columns; of the preview, for a pasted list that needs no check. */
async function acceptList({ ctx, upload }: FastifyRequest, values: URLSearchParams): Promise<string> {
  const { assessmentId, list } = readFields(values, 'assessmentId', 'list')
  const isFile = upload !== undefined && upload.bytes.length > 0
  const [bytes, fileName] = isFile ? [upload.bytes, upload.name] : [Buffer.from(list), '']
  await checkBatchTerms(ctx, { assessmentId, terms: readTerms(values) })
  const inspection = await inspectFile(ctx, { kind: 'candidates', bytes })
  if (!isFile && !inspection.columns.some(({ meaning }) => meaning === 'email')) throw createFileError('list', 'noAddresses')
  values.delete('list')
  const form = values.toString()
  if (!isFile && !needsCheck(inspection))
    return importCandidateFile(ctx, { id: '', kind: 'candidates', fileName, bytes, choices: {}, form })
  return pathOf(ctx, `imports/${await storeImportFile(ctx, { kind: 'candidates', fileName, bytes, form })}`)
}

/** Reads the candidates of a list whose columns are confirmed. */
export const importCandidateFile: Importer = async (ctx, { fileName, bytes, choices, form }) => {
  const values = new URLSearchParams(form)
  const { assessmentId } = readFields(values, 'assessmentId')
  const order = { content: 'candidates', bytes, maxRows: MAX_BATCH_ROWS, choices: toReadChoices(choices) } as const
  const id = await createBatch(ctx, {
    assessmentId,
    readList: readUpload(ctx.organization.id, order),
    terms: readTerms(values),
    fileName,
  })
  return pathOf(ctx, `invites/batches/${id}`)
}

/** A pasted list whose columns are all known goes straight to the preview of its rows. */
const needsCheck = ({ columns }: Inspection): boolean =>
  columns.some(({ meaning, doubt, isRemembered }) => meaning === '' || doubt !== null || isRemembered)

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
