import { expect, it } from 'vitest'
import { compareGroups, readSelectionRates } from '../../../../src/domain/submissions/grading/selection-rates.ts'
import { asOperator, signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile({ ROLE: 'api' })
const { db, deps } = service

/** Creates released results with decisions: in each group `selected` of `decided`. */
async function setUp(groups: Record<string, [selected: number, decided: number]>) {
  const organization = await service.make.organization()
  const assessment = await service.make.assessment(organization.id)
  const admin = await signInAs(service, organization.id, ['admin'])
  const of = { organizationId: organization.id }
  const at = deps.clock()
  const tagIds: string[] = []
  for (const [name, [selected, decided]] of Object.entries(groups)) {
    const tag = await service.make.tag(organization.id, { name })
    tagIds.push(tag.id)
    for (let i = 0; i < decided; i++) {
      const invite = await service.make.invite(assessment, { status: 'completed' })
      await db.inviteTag.create({ data: { ...of, inviteId: invite.id, tagId: tag.id, position: 0 } })
      const decision = i >= selected ? 'reject' : i % 2 === 0 ? 'advance' : 'shortlist'
      const times = { submittedAt: at, releasedAt: at, createdAt: at, updatedAt: at }
      const limits = { questionReplayLimit: 1, answerRecordLimit: 1 }
      const ref = { ...of, id: deps.newId(), inviteId: invite.id, assessmentId: assessment.id }
      await db.submission.create({ data: { ...ref, ...times, ...limits, state: 'released', decision } })
    }
  }
  const path = `${admin.home}assessments/${assessment.id}/statistics`
  const settings = `${admin.home}settings/selection-rates`
  return { organization, assessment, admin, tagIds, path, settings, ctx: asOperator(service, organization) }
}

it('compares groups with the one that has the highest rate', () => {
  const group = (id: string, selected: number, decided: number) => ({ id, name: id, selected, decided })
  const compared = compareGroups([group('a', 12, 40), group('b', 20, 40), group('c', 16, 40)])
  expect(compared.map(({ id, rate, ofHighest }) => [id, rate, ofHighest])).toEqual([
    ['b', 0.5, 1],
    ['c', 0.4, 0.8],
    ['a', 0.3, 0.6],
  ])
  expect(compareGroups([group('a', 0, 5)])[0]).toMatchObject({ rate: 0, ofHighest: null, isBelowFourFifths: false })
  const isBelow = (...groups: ReturnType<typeof group>[]) =>
    compareGroups(groups).map(({ isBelowFourFifths }) => isBelowFourFifths)
  expect(isBelow(group('a', 5, 12), group('b', 1, 3))).toEqual([false, false])
  expect(isBelow(group('a', 10, 10), group('b', 799, 1_000))).toEqual([false, true])
})

it('shows selection rates only after an admin has switched them on, and records it', async () => {
  const { admin, path, settings, organization, ctx, assessment, tagIds } = await setUp({
    '<Older>': [5, 15],
    Younger: [10, 15],
  })
  expect((await admin.get(path)).text).not.toContain('Selection rates by tag')
  expect(await readSelectionRates(ctx, assessment.id, tagIds)).toMatchObject({ isOn: false, tags: [] })
  expect((await admin.get(settings)).text).toContain('Selection rates are off')
  expect((await admin.post(`${path}/selection-rates`, { group: tagIds[0]! })).status).toBe(404)
  const exported = { organizationId: organization.id, action: 'exported_selection_rates' }
  expect(await db.auditEntry.count({ where: exported })).toBe(0)
  await admin.post(settings, { isOn: 'yes' })
  const action = { organizationId: organization.id, action: 'changed_selection_rates' }
  expect(await db.auditEntry.count({ where: action })).toBe(1)
  const { text } = await admin.get(`${path}?${tagIds.map((id) => `group=${id}`).join('&')}`)
  expect(text).toContain('30 results have a decision')
  expect(text).toContain('&lt;Older&gt;')
  expect(text).toMatch(/33 %[\s\S]*50 %[\s\S]*Below four fifths, Small group/)
  expect((await admin.get(path)).text).not.toContain('Share of the highest rate')
  const csv = await admin.post(`${path}/selection-rates`, { group: tagIds[0]! })
  expect(csv.text.trim().split(/\r?\n/)).toEqual([
    expect.stringContaining('tag,decided,selected,rate,of_highest_rate'),
    expect.stringMatching(/^<Older>,15,5,0\.3333\d*,1$/),
  ])
})

it('shows the number of decided results if there are fewer than 30', async () => {
  const { admin, path, settings, tagIds } = await setUp({ Older: [1, 2] })
  await admin.post(settings, { isOn: 'yes' })
  const { text } = await admin.get(`${path}?group=${tagIds[0]}`)
  expect(text).toContain('Selection rates need 30 released results with a decision; there are 2.')
  expect(text).not.toContain('Share of the highest rate')
})

it('compares chosen tags that are not among the most frequent', async () => {
  const frequent = Array.from({ length: 50 }, (_, i): [string, [number, number]] => [`A${i}`, [1, 1]])
  const { ctx, assessment, admin, settings, tagIds } = await setUp({ ...Object.fromEntries(frequent), Z: [0, 1] })
  await admin.post(settings, { isOn: 'yes' })
  const { tags, compared } = await readSelectionRates(ctx, assessment.id, [tagIds[50]!, 'none'])
  expect(compared.map(({ name }) => name)).toEqual(['Z'])
  expect(tags).toHaveLength(50)
})
