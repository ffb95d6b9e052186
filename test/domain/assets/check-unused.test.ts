import { expect, it } from 'vitest'
import { addQuestion, deleteQuestion } from '../../../src/domain/assessments/edit-questions.ts'
import { EMPTY_QUESTION } from '../../../src/domain/assessments/question-input.ts'
import { addDefinedQuestion } from '../../../src/domain/assessments/write-question.ts'
import { addPicture } from '../../../src/domain/assets/add-picture.ts'
import { checkUnusedAssets } from '../../../src/domain/assets/check-unused.ts'
import { changeLogo, removeLogo } from '../../../src/domain/brand/brand.ts'
import { deleteExpiredRows } from '../../../src/domain/concurrency/expired-rows.ts'
import { fileOf } from '../../../src/domain/files/media-keys.ts'
import { saveToLibrary } from '../../../src/domain/library/save-to-library.ts'
import { checkMedia } from '../../../src/domain/submissions/media/check-media.ts'
import { removeFiles } from '../../../src/domain/submissions/media/remove-files.ts'
import { candidateOf, consent, NO_REQUIREMENTS } from '../../support/candidate.ts'
import { png } from '../../support/pictures.ts'
import { asOperator } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'

// Without the sweep: the tests run it themselves.
const service = await startServiceForFile({ ROLE: 'api' })
const DAY = 86_400_000

/** Creates an organization with a unique picture. */
async function createOrganizationWithPicture() {
  const organization = await service.make.organization()
  const ctx = asOperator(service, organization)
  const assessment = await service.make.assessment(organization.id)
  const id = await addPicture(ctx, png(40, 30, { seed: organization.id }))
  const ask = async () => {
    const questionId = await addQuestion(ctx, assessment.id, { ...EMPTY_QUESTION, script: `![A kite](asset:${id})` })
    return { assessmentId: assessment.id, questionId }
  }
  const find = () => service.db.asset.findFirst({ where: { organizationId: organization.id, id } })
  const bytes = async () => {
    const { _sum } = await service.db.organizationMediaBytes.aggregate({
      where: { organizationId: organization.id },
      _sum: { bytes: true },
    })
    return Number(_sum.bytes)
  }
  return { organization, ctx, assessment, id, ask, find, bytes }
}

async function sweepAfter(days: number) {
  service.clock.advance(days * DAY)
  await checkUnusedAssets(service.system)
  await deleteExpiredRows(service.system, 'delete_expired_media')
}

it('deletes an asset with its file and its bytes a year after its last use', async () => {
  const { ask, bytes, ctx, find } = await createOrganizationWithPicture()
  const ref = await ask()
  await sweepAfter(400)
  const asset = await find()
  expect([asset?.unusedSince, await bytes()]).toEqual([null, png(40, 30, { seed: ctx.organization.id }).length])
  await deleteQuestion(ctx, ref)
  await sweepAfter(1)
  await sweepAfter(364)
  expect(await find()).not.toBeNull()
  await sweepAfter(2)
  expect([await find(), await bytes()]).toEqual([null, 0])
  service.clock.advance(DAY)
  await removeFiles(service.system)
  expect(await service.deps.media.size(fileOf(asset!.key))).toBeNull()
})

it("keeps an organization's logo while it is in use, and for a year after", async () => {
  const { ctx, organization } = await createOrganizationWithPicture()
  await changeLogo(ctx, png(200, 100))
  const find = () => service.db.asset.findFirst({ where: { organizationId: organization.id, kind: 'logo' } })
  await sweepAfter(400)
  expect((await find())?.unusedSince).toBeNull()
  await removeLogo(ctx)
  await sweepAfter(1)
  await sweepAfter(364)
  expect((await find())?.unusedSince).toEqual(expect.any(Date))
  await changeLogo(ctx, png(200, 100)) // the earlier logo is in use again
  expect((await find())?.unusedSince).toBeNull()
  await removeLogo(ctx)
  await sweepAfter(1)
  await sweepAfter(366)
  expect(await find()).toBeNull()
})

it('keeps a picture that the library or a paper uses, or that is used again', async () => {
  const [kept, asked, again] = [
    await createOrganizationWithPicture(),
    await createOrganizationWithPicture(),
    await createOrganizationWithPicture(),
  ]
  const saved = await kept.ask()
  await saveToLibrary(kept.ctx, saved)
  await deleteQuestion(kept.ctx, saved)
  const ref = await asked.ask()
  const invite = await service.make.invite(asked.assessment, { status: 'accepted', ...NO_REQUIREMENTS })
  const candidate = candidateOf(service, invite)
  await consent(candidate)
  await candidate.press('start')
  await deleteQuestion(asked.ctx, ref)
  await sweepAfter(364)
  await again.ask()
  await sweepAfter(2)
  for (const { find } of [kept, asked, again]) expect((await find())?.unusedSince).toBeNull()
})

it('deletes a picture of an unused question version, and keeps one of a version in use', async () => {
  const [gone, kept] = [await createOrganizationWithPicture(), await createOrganizationWithPicture()]
  for (const { assessment, ctx, id } of [gone, kept]) {
    const options = [
      { id: 'qkzvwtab', text: `![A kite](asset:${id})` },
      { id: 'mfpdxhce', text: 'Another' },
    ]
    const definition = {
      responseType: 'single_choice',
      spec: { options, shuffle: false },
      key: { policy: 'exact', right: ['qkzvwtab'] },
    }
    const input = { ...EMPTY_QUESTION, responseType: 'single_choice', script: 'Which?' }
    const questionId = await addDefinedQuestion(ctx, assessment.id, { input, definition, faults: [] })
    if (ctx === gone.ctx) await deleteQuestion(ctx, { assessmentId: assessment.id, questionId })
  }
  await sweepAfter(1)
  await sweepAfter(366)
  expect([await gone.find(), (await kept.find())?.unusedSince]).toEqual([null, null])
  const of = { organizationId: gone.organization.id, assetIds: { has: gone.id } }
  expect(await service.db.questionVersion.count({ where: of })).toBe(1)
})

it('reports an asset as missing in the media check if its file is gone', async () => {
  const { find } = await createOrganizationWithPicture()
  const asset = (await find())!
  const before = await checkMedia(service.system)
  expect(before.missing).toEqual([])
  expect(before.strays).toEqual({ files: 0, bytes: 0 })
  await service.deps.media.delete(fileOf(asset.key))
  expect((await checkMedia(service.system)).missing).toMatchObject([{ mediaId: asset.id, expected: Number(asset.bytes) }])
})
