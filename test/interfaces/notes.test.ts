import { beforeAll, describe, expect, it } from 'vitest'
import { createApiKey } from '../../src/domain/api-keys/api-keys.ts'
import { requestCandidateArchive } from '../../src/domain/archives/request-archive.ts'
import { eraseDueInvites } from '../../src/domain/erasure/erase-due-invites.ts'
import { INTERPRETING_CATEGORIES } from '../../src/domain/organization/note-categories.ts'
import { readSlices } from '../media/recordings.ts'
import { readArchive, textsOf } from '../support/archives.ts'
import { makeSpoken } from '../support/grading.ts'
import { asOperator, signInAs } from '../support/portal.ts'
import { startServiceForFile } from '../support/service.ts'

const service = await startServiceForFile()
const audio = await readSlices('audio')
const WORD = 'Zanzibar'

/** Creates a submission with two recorded answers, and an organization with the categories of interpreting. */
async function make({ secondGrader = false, blindGrading = false } = {}) {
  const made = await makeSpoken(service, audio, 2)
  const organizationId = made.organization.id
  await service.db.assessment.update({ where: { id: made.assessment.id }, data: { secondGrader, blindGrading } })
  await service.db.organization.update({ where: { id: organizationId }, data: { noteCategories: INTERPRETING_CATEGORIES } })
  const [mediaId, otherMediaId] = (
    await service.db.answerAttempt.findMany({ where: { submissionId: made.submissionId }, orderBy: { questionNumber: 'asc' } })
  ).map((attempt) => attempt.mediaId!) as [string, string]
  const join = async (roles: string[], slot?: 'assignedGraderId' | 'secondGraderId') => {
    const member = await signInAs(service, organizationId, roles)
    if (slot === 'assignedGraderId')
      await service.db.invite.update({ where: { id: made.invite.id }, data: { assignedGraderId: member.member.id } })
    if (slot === 'secondGraderId')
      await service.db.submission.update({ where: { id: made.submissionId }, data: { secondGraderId: member.member.id } })
    const sheet = `${member.home}grading/${made.submissionId}`
    const note = (fields: Record<string, string> = {}) =>
      member.post(`${sheet}/notes`, {
        ...{
          id: service.deps.newId(),
          media: mediaId,
          number: '1',
          at: '0:01.2',
          until: '',
          text: WORD,
          category: '',
          pointsOff: '',
        },
        ...fields,
      })
    const grade = (number: number, points = '8') =>
      member.post(`${sheet}/questions/${number}`, { points, comment: '', stood: '', seen: service.clock.now().toISOString() })
    return { ...member, sheet, note, grade, read: async () => (await member.get(sheet)).text }
  }
  const notes = () => service.db.gradingNote.findMany({ where: { submissionId: made.submissionId }, orderBy: { startMs: 'asc' } })
  return { ...made, mediaId, otherMediaId, join, notes }
}

describe('a note', () => {
  it('is saved with its moment, range, category, points off, and author, and shown above the waveform and in a list', async () => {
    const { join, notes, mediaId } = await make()
    const grader = await join(['grader'])
    const saved = await grader.note({ until: '2,5', category: 'Omission', pointsOff: '0,5', text: `${WORD} <b>` })
    expect([saved.status, saved.headers.location]).toEqual([303, `${grader.sheet}#question-1`])
    expect(await notes()).toMatchObject([
      { mediaId, questionNumber: 1, round: 1, startMs: 1_200, endMs: 2_500, category: 'Omission', text: `${WORD} <b>` },
    ])
    const page = await grader.read()
    expect(page).toContain('data-note="0:01 to 0:02 Omission, 0.5 points off: Zanzibar &lt;b&gt;" data-from="1.2"')
    expect(page).toMatch(/<rect x="\d+\.\d+%" y="4" width="\d+\.\d+%" height="4"><\/rect><circle cx="\d+\.\d+%"/)
    expect(page).toContain('0.5 points off, you')
    expect(page).toContain('Notes take 0.5 points off. They don’t change the points')
    const other = await join(['admin', 'grader'])
    expect(await other.read()).toContain('0.5 points off, Ada Member')
  })

  it('never changes the points', async () => {
    const { join, submissionId } = await make()
    const grader = await join(['grader'])
    await grader.grade(1, '8')
    await grader.note({ pointsOff: '3' })
    await grader.grade(2, '10')
    await grader.post(`${grader.sheet}/release`, { withNotes: 'yes' })
    const release = await service.db.release.findFirstOrThrow({ where: { submissionId } })
    expect([Number(release.points), Number(release.ofPoints)]).toEqual([18, 20])
  })

  it('is saved once, even if it is sent several times', async () => {
    const { join, notes } = await make()
    const grader = await join(['grader'])
    const id = service.deps.newId()
    expect([(await grader.note({ id })).status, (await grader.note({ id })).status]).toEqual([303, 303])
    expect(await notes()).toHaveLength(1)
  })

  /** Rejected notes leave nothing behind, so one recording serves all tests. */
  let recording: Awaited<ReturnType<typeof make>>
  beforeAll(async () => {
    recording = await make()
  })
  it.each<[string, Record<string, string>, string]>([
    ['without a time', { at: '' }, 'The time of the note must lie within the recording'],
    ['at no time', { at: 'soon' }, 'The time of the note must lie within the recording'],
    ['after the end', { at: '9:00' }, 'The time of the note must lie within the recording'],
    ['that ends before it begins', { until: '0:01' }, 'The end of the note must lie within the recording'],
    ['without words and category', { text: ' ' }, 'Enter the text'],
    ['that is too long', { text: 'x'.repeat(1_001) }, 'has more than 1000 characters'],
    ['of an unknown category', { category: 'Singing' }, 'category'],
    ['with more points off than there are', { pointsOff: '10.5' }, 'between 0 and 10'],
    ['with points off between the steps', { pointsOff: '0.3' }, 'between 0 and 10'],
  ])('is rejected, and its form keeps the input: %s', async (_, fields, message) => {
    const { join, notes } = recording
    const grader = await join(['grader'])
    const { status, text } = await grader.note(fields)
    expect([status, text.includes(message)]).toEqual([422, true])
    for (const [name, value] of Object.entries(fields))
      if (name !== 'category' && value.length < 50) expect(text).toContain(`name="${name}" value="${value}"`)
    expect(await notes()).toEqual([])
  })

  it('is rejected on recordings of other submissions, and from members who may not grade the answer', async () => {
    const [one, other] = [await make(), await make()]
    const grader = await one.join(['grader'], 'assignedGraderId')
    expect((await grader.note({ media: other.mediaId })).status).toBe(404)
    const second = await one.join(['grader'])
    expect((await second.note()).status).toBe(404)
    const client = await one.join(['client'])
    expect([403, 404]).toContain((await client.note()).status)
    const stranger = await other.join(['admin', 'grader'])
    const path = `${stranger.home}grading/${one.submissionId}/notes`
    expect((await stranger.post(path, { media: one.mediaId, at: '1', text: WORD, id: service.deps.newId() })).status).toBe(404)
    expect([await one.notes(), await other.notes()]).toEqual([[], []])
  })

  it('can be deleted only by its author, and only before the release', async () => {
    const { join, notes } = await make()
    const [grader, admin] = [await join(['grader']), await join(['admin', 'grader'])]
    await grader.note()
    const [{ id } = { id: '' }] = await notes()
    expect(await admin.read()).not.toContain(`notes/${id}/delete`)
    await admin.post(`${admin.sheet}/notes/${id}/delete`)
    expect(await notes()).toHaveLength(1)
    for (const number of [1, 2]) await grader.grade(number)
    await grader.post(`${grader.sheet}/release`)
    expect((await grader.post(`${grader.sheet}/notes/${id}/delete`)).status).toBe(422)
    expect((await grader.note()).status).toBe(422)
    await grader.post(`${grader.sheet}/reopen`)
    expect((await grader.post(`${grader.sheet}/notes/${id}/delete`)).status).toBe(303)
    expect(await notes()).toEqual([])
  })
})

describe('two graders', () => {
  it('see each other’s notes only after both have graded', async () => {
    const { join } = await make({ secondGrader: true })
    const [first, second] = [await join(['grader'], 'assignedGraderId'), await join(['grader'], 'secondGraderId')]
    await first.note({ text: `${WORD} first` })
    await second.note({ text: `${WORD} second` })
    const parts = async (grader: typeof first) => JSON.stringify((await grader.post(`${grader.sheet}/viewers`)).body)
    for (const [grader, own, other] of [
      [first, 'first', 'second'],
      [second, 'second', 'first'],
    ] as const)
      for (const text of [await grader.read(), await parts(grader)])
        expect([text.includes(`${WORD} ${own}`), text.includes(`${WORD} ${other}`)]).toEqual([true, false])
    for (const number of [1, 2]) for (const grader of [first, second]) await grader.grade(number)
    for (const grader of [first, second])
      for (const text of [await grader.read(), await parts(grader)])
        expect([text.includes(`${WORD} first`), text.includes(`${WORD} second`)]).toEqual([true, true])
  })
})

describe('a released result', () => {
  const release = async (withNotes: boolean) => {
    const made = await make()
    const grader = await made.join(['grader'])
    await grader.note({ category: 'Meaning', pointsOff: '1' })
    await grader.note({ media: made.otherMediaId, at: '0', text: 'Clear' })
    for (const number of [1, 2]) await grader.grade(number)
    expect((await grader.get(`${grader.sheet}/release`)).text).toContain('Release the graders’ 2 notes on recorded answers')
    await grader.post(`${grader.sheet}/release`, withNotes ? { withNotes: 'yes' } : {})
    const { key } = await createApiKey(service.system, {
      ...{ organizationId: made.organization.id, name: service.make.unique('key'), mode: 'live' },
    })
    const client = await made.join(['client'])
    await service.db.assessmentClient.create({
      data: { organizationId: made.organization.id, assessmentId: made.assessment.id, memberId: client.member.id, position: 0 },
    })
    return { ...made, v1: service.v1(key), admin: await made.join(['admin']), client }
  }
  const readAll = async ({ v1, invite }: Awaited<ReturnType<typeof release>>) => ({
    notes: (await v1.get(`/invites/${invite.id}/submission/notes`)).body.notes,
    report: (await v1.get(`/invites/${invite.id}/submission/report`).set('accept', 'text/html')).text,
    documented: (await v1.get(`/invites/${invite.id}/submission`)).text,
  })

  it('has the notes in the report and the API if the grader releases them', async () => {
    const made = await release(true)
    const { notes, report, documented } = await readAll(made)
    expect(notes).toEqual([
      { questionNumber: 1, startMs: 1_200, endMs: null, category: 'Meaning', text: WORD, pointsOff: 1 },
      { questionNumber: 2, startMs: 0, endMs: null, category: '', text: 'Clear', pointsOff: null },
    ])
    expect(report).toContain('0:01 Meaning, 1 point off: Zanzibar')
    expect(documented).not.toMatch(/Zanzibar|notes|pointsOff/)
    const pdf = await made.admin.get(`${made.admin.home}results/${made.submissionId}/report`)
    expect(pdf.headers['content-type']).toContain('pdf')
    // Clients do not see comments of graders either.
    const shown = await made.client.get(`${made.client.home}results/${made.submissionId}`)
    expect([shown.status, shown.text.includes(WORD)]).toEqual([200, false])
  })

  it('has no notes otherwise', async () => {
    const { notes, report, documented } = await readAll(await release(false))
    expect(notes).toEqual([])
    expect(report + documented).not.toContain(WORD)
  })
})

it('lists no notes over the API before a release or without the scope', async () => {
  const { join, invite, organization } = await make()
  await (await join(['grader'])).note()
  const keyOf = async (scopes: string[]) => {
    const of = { organizationId: organization.id, name: service.make.unique('key'), mode: 'live' } as const
    return service.v1((await createApiKey(service.system, { ...of, scopes: scopes as never })).key)
  }
  const path = `/invites/${invite.id}/submission/notes`
  const unreleased = await (await keyOf([])).get(path)
  expect([unreleased.status, unreleased.headers['x-error-code']]).toEqual([404, 'result_not_released'])
  expect((await (await keyOf(['invites:read'])).get(path)).status).toBe(403)
})

it('shows candidates no notes on their own pages, but archives all of them, without the grader', async () => {
  const { join, candidate, organization, stored } = await make()
  const grader = await join(['grader'])
  await grader.note({ category: 'Omission', pointsOff: '1' })
  expect((await candidate.open()).text).not.toContain(WORD)
  const ctx = asOperator(service, organization)
  const { id } = await requestCandidateArchive(ctx, { address: (await stored()).recipientEmail })
  const texts = textsOf(await readArchive(ctx, id)).filter(([, text]) => text.includes(WORD))
  expect(texts.map(([name]) => name.split('.').at(-1)).sort()).toEqual(['html', 'json'])
  expect(texts.find(([name]) => name.endsWith('.html'))![1]).toContain('0:01 Omission, 1 point off: Zanzibar')
  for (const [, text] of texts) expect(text).not.toContain(grader.member.id)
})

it('deletes a note with its recording, and with its invite', async () => {
  const deleted = await make()
  await (await deleted.join(['grader'])).note()
  const admin = await deleted.join(['admin'])
  await admin.post(`${admin.home}invites/${deleted.invite.id}/submission/delete`, { media: 'answers' })
  expect(await deleted.notes()).toEqual([])
  const erased = await make()
  await (await erased.join(['grader'])).note()
  await service.db.organizationRetention.create({
    data: {
      ...{ organizationId: erased.organization.id, completedDays: 1, beginsAt: new Date(0), nextAt: new Date(0) },
      updatedAt: new Date(0),
    },
  })
  service.clock.advance(40 * 86_400_000)
  await eraseDueInvites(service.system)
  expect(await erased.notes()).toEqual([])
})

it('exports notes for admins, released or not', async () => {
  const { join, assessment, stored, organization } = await make()
  const grader = await join(['grader'])
  await grader.note({ category: 'Omission', pointsOff: '1', until: '2.5', text: `=${WORD}` })
  const admin = await join(['admin'])
  const path = (home: string) => `${home}results/assessments/${assessment.id}/notes/export`
  const { status, headers, text } = await admin.post(path(admin.home))
  expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8'])
  const [head, row, ...others] = text.replace('\ufeff', '').trim().split('\r\n')
  expect(head).toContain('email,name,question,from_seconds,until_seconds,category,text,points_off,grader')
  expect(row).toContain(`${(await stored()).recipientEmail},Mei Tanaka,1,1.2,2.5,Omission,'=${WORD},1,${grader.member.email}`)
  expect(others).toEqual([])
  expect([403, 404]).toContain((await grader.post(path(grader.home))).status)
  const audited = { organizationId: organization.id, action: 'exported_notes' }
  expect(await service.db.auditEntry.count({ where: audited })).toBe(1)
})

describe('note categories', () => {
  it('can be edited by the organization, with presets for interpreting, and old notes keep theirs', async () => {
    const { join, notes, organization } = await make()
    await service.db.organization.update({ where: { id: organization.id }, data: { noteCategories: [] } })
    const admin = await join(['admin', 'grader'])
    expect(await admin.read()).not.toContain('name="category"')
    const address = `${admin.home}settings/notes`
    const preset = INTERPRETING_CATEGORIES.join('\n')
    expect((await admin.get(address)).text).toContain(`value="${preset}"`)
    expect((await admin.post(address, { categories: preset })).status).toBe(303)
    expect(await admin.read()).toContain('<option >Terminology</option>')
    await admin.note({ category: 'Terminology', text: '' })
    await admin.post(address, { categories: ' Register \r\n\r\nRegister\r\nPace' })
    expect((await service.db.organization.findUniqueOrThrow({ where: { id: organization.id } })).noteCategories).toEqual([
      'Register',
      'Pace',
    ])
    expect((await notes()).map(({ category }) => category)).toEqual(['Terminology'])
    expect(await admin.read()).toContain('Terminology</strong>')
    const entries = await service.db.auditEntry.findMany({
      where: { organizationId: organization.id, action: 'changed_note_categories' },
    })
    expect(entries).toHaveLength(2)
    expect((await admin.post(address, { categories: 'x'.repeat(61) })).status).toBe(422)
    const many = Array.from({ length: 31 }, (_, i) => `Category ${i}`)
    expect((await admin.post(address, { categories: many.join('\n') })).status).toBe(422)
    const grader = await join(['grader'])
    expect([403, 404]).toContain((await grader.get(`${grader.home}settings/notes`)).status)
  })
})
