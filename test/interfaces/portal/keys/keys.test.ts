import { describe, expect, it } from 'vitest'
import { defineQuestion } from '../../../../src/domain/assessments/define-question.ts'
import { saveToLibrary } from '../../../../src/domain/library/save-to-library.ts'
import { makeAnswered } from '../../../support/answered.ts'
import { mistakesIn } from '../../../support/forms.ts'
import { examplesOf, makeDefined } from '../../../support/kinds.ts'
import { asOperator, signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const service = await startServiceForFile()

const ONE = {
  responseType: 'single_choice',
  spec: {
    options: [
      { id: 'qkzvwtab', text: 'Oslo' },
      { id: 'mfpdxhce', text: 'Bergen' },
    ],
    shuffle: false,
  },
  key: { policy: 'exact', right: ['qkzvwtab'] },
}
const [OSLO, BERGEN] = [['qkzvwtab'], ['mfpdxhce']]
const WORDS = {
  responseType: 'short_text',
  spec: { lines: 1 },
  key: {
    accepted: [{ text: 'Rome', share: 100 }],
    caseSensitive: false,
    ignore: { accents: false, punctuation: false },
    otherwise: 'wrong',
  },
}

type Made = Awaited<ReturnType<typeof makeAnswered>>

async function open(made: Made) {
  const admin = await signInAs(service, made.organizationId, ['admin'])
  const path = `${admin.home}keys/${made.versionId}`
  const preview = (fields: Record<string, string | string[]>) => admin.post(`${path}/preview`, fields)
  const done = () =>
    waitUntil('the correction', async () => ((await admin.get(path)).text.includes('is applied') ? true : undefined))
  return {
    admin,
    path,
    preview,
    /** Sends the preview's form and waits for the job. */
    correct: async (fields: Record<string, string | string[]>, releases: string) => {
      const { text } = await preview(fields)
      const seen = /name="seen" value="(\d+)"/.exec(text)?.[1] ?? ''
      const answer = await admin.post(path, { ...fields, releases, seen })
      if (answer.status === 303) await done()
      return answer
    },
    /** For each submission, the newest points by the key and the totals of its releases. */
    scores: async () => {
      const found = await service.db.submission.findMany({
        where: { id: { in: made.submissionIds } },
        include: { paper: { include: { scores: { orderBy: { keyNumber: 'asc' } } } }, releases: { orderBy: { version: 'asc' } } },
      })
      const inOrder = made.submissionIds.map((id) => found.find((one) => one.id === id)!)
      return inOrder.map(({ paper, releases }) => ({
        scores: paper.find(({ number }) => number === 1)!.scores.map(({ points }) => points && Number(points)),
        released: releases.map(({ points, ofPoints }) => `${points}/${ofPoints}`),
      }))
    },
  }
}

const BERGEN_IS_RIGHT = {
  effect: 'key',
  row: ['qkzvwtab', 'mfpdxhce'],
  'text-qkzvwtab': 'Oslo',
  'text-mfpdxhce': 'Bergen',
  policy: 'exact',
  right: 'mfpdxhce',
  reason: 'It is Bergen',
}
const FIVE = [
  { value: OSLO },
  { value: BERGEN },
  { value: OSLO, released: true },
  { value: BERGEN, released: true },
  { value: BERGEN, released: true, given: 3 },
]

/** Choices about released results, with their counts. */
const choicesIn = (text: string): string[] =>
  [...text.matchAll(/name="releases" value="\w+"[^>]*>(.*?)<\/label>/g)].map(([, label]) => label!.replace(/<[^>]*>/g, ''))

it('previews the changes of a correction, and stores nothing', async () => {
  const made = await makeAnswered(service, ONE, FIVE)
  const { preview, scores } = await open(made)
  const before = await scores()
  const { text, status } = await preview(BERGEN_IS_RIGHT)
  expect(status).toBe(200)
  expect(text).toContain(
    'Of 5 answers submitted, 2 get more, 2 less, 0 the same. 3 are released: of these 1 gets more, 1 less. 1 was decided by a person, and stays.',
  )
  expect(text).toContain('It is Bergen')
  expect(choicesIn(text)).toEqual(['Change only results that rise: 1 result', 'Change results that fall, too: 2 results'])
  expect(await scores()).toEqual(before)
  expect(await service.db.answerKey.count({ where: { versionId: made.versionId } })).toBe(1)
})

it('previews and reports the changes to live and test data, on the pages of either', async () => {
  const made = await makeAnswered(service, ONE, FIVE)
  const inviteOf = { submissions: { some: { id: made.submissionIds[0]! } } }
  await service.db.invite.updateMany({ where: inviteOf, data: { mode: 'test' } })
  await service.db.submission.update({ where: { id: made.submissionIds[0]! }, data: { mode: 'test' } })
  const { admin, path, preview, correct } = await open(made)
  const testPath = path.replace('/portal/', '/portal/test/')
  const live = '<strong>Live data.</strong> Of 4 answers submitted, 2 get more, 1 less, 0 the same. 3 are released'
  const test = '<strong>Test data.</strong> Of 1 answer submitted, 0 get more, 1 less, 0 the same. 0 are released'
  for (const { text } of [await preview(BERGEN_IS_RIGHT), await admin.post(`${testPath}/preview`, BERGEN_IS_RIGHT)]) {
    expect(text).toContain(live)
    expect(text).toContain(test)
    expect(text).toContain('one key for live and test data')
  }
  await correct(BERGEN_IS_RIGHT, 'raise')
  for (const { text } of [await admin.get(path), await admin.get(testPath)]) {
    expect(text).toContain(live)
    expect(text).toContain(test)
  }
})

it('scores submissions again, and changes released results only if that raises them', async () => {
  const made = await makeAnswered(service, ONE, FIVE)
  const { admin, path, correct, scores } = await open(made)
  expect((await correct(BERGEN_IS_RIGHT, 'raise')).status).toBe(303)
  expect(await scores()).toEqual([
    { scores: [10, 0], released: [] },
    { scores: [0, 10], released: [] },
    { scores: [10, 0], released: ['15/20'] },
    { scores: [0, 10], released: ['5/20', '15/20'] },
    { scores: [0, 10], released: ['8/20'] },
  ])
  const page = (await admin.get(path)).text
  for (const words of [
    '1 result was released again',
    'Decided before the key was changed: 1',
    'because they would be lower: 1',
    'candidate-4@example.com',
    'It is Bergen',
  ])
    expect(page).toContain(words)
  expect((await admin.get(`${path}?list=kept`)).text).toContain('candidate-2@example.com')
  const releases = await service.db.release.findMany({
    where: { submissionId: made.submissionIds[3]! },
    orderBy: { version: 'asc' },
  })
  expect(releases[1]).toMatchObject({ comment: 'For us', message: 'For you', toCandidate: true, releasedById: admin.member.id })
  expect((releases[1]!.grades as object[])[0]).toMatchObject({ number: 1, points: 10, by: 'key', keyNumber: 2, graderId: null })
  const releaseEvents = await service.db.event.findMany({
    where: { organizationId: made.organizationId, type: 'submission.released' },
  })
  expect(releaseEvents.map(({ data }) => (data as { percent: number }).percent)).toEqual([75])
  const audit = await service.db.auditEntry.findMany({ where: { organizationId: made.organizationId, action: 'corrected_key' } })
  expect(audit).toMatchObject([
    { actorId: admin.member.id, targetId: made.versionId, details: { number: 2, reason: 'It is Bergen' } },
  ])
})

it('lowers released results, too, if chosen', async () => {
  const made = await makeAnswered(service, ONE, FIVE)
  const { correct, scores } = await open(made)
  await correct(BERGEN_IS_RIGHT, 'all')
  expect((await scores()).map(({ released }) => released)).toEqual([[], [], ['15/20', '5/20'], ['5/20', '15/20'], ['8/20']])
})

it.each([
  ['full', [['15/20'], ['5/20', '15/20']]],
  [
    'none',
    [
      ['15/20', '5/10'],
      ['5/20', '5/10'],
    ],
  ],
])('grants everybody all points, or excludes the question: %s', async (effect, expected) => {
  const made = await makeAnswered(service, ONE, [
    { value: OSLO, released: true },
    { value: BERGEN, released: true },
  ])
  const { correct, scores } = await open(made)
  await correct({ effect, reason: 'Two are right' }, 'all')
  expect((await scores()).map(({ released }) => released)).toEqual(expected)
})

it.each(['raise', 'all'])('keeps and lists released results that now need a grader: %s', async (releases) => {
  const made = await makeAnswered(service, WORDS, [
    { value: 'Athens', released: true },
    { value: 'Rome', released: true },
  ])
  const { admin, path, correct, scores } = await open(made)
  const fields = {
    effect: 'key',
    row: 'aaaaaaaa',
    'text-aaaaaaaa': 'Rome',
    'share-aaaaaaaa': '100',
    otherwise: 'people',
    lines: '1',
    reason: 'Others may be right',
  }
  expect((await correct(fields, releases)).status).toBe(303)
  expect((await scores()).map(({ released }) => released)).toEqual([['5/20'], ['15/20']])
  const { text } = await admin.get(`${path}?list=kept`)
  expect(text).toContain('2 are released: of these 0 get more, 0 less, 1 needs a grader, and stays as it is.')
  expect(text).toContain('Released as they were, because they need a grader: 1')
  expect(text).toContain('candidate-0@example.com')
  expect(text).toContain('a grader has to decide')
  expect(text).not.toContain('because they would be lower')
})

it('keeps the question in a result that excluding it would lower', async () => {
  const made = await makeAnswered(service, ONE, [
    { value: OSLO, released: true },
    { value: BERGEN, released: true },
  ])
  const { correct, scores } = await open(made)
  await correct({ effect: 'none', reason: 'Ambiguous' }, 'raise')
  expect((await scores()).map(({ released }) => released)).toEqual([['15/20'], ['5/20', '5/10']])
})

/** Adds the same version as third question of the submission, answered with Bergen, scored 0, and released. */
async function askTwice({ organizationId, question, versionId, submissionIds: [submissionId] }: Made) {
  const of = { organizationId, submissionId: submissionId! }
  const like = await service.db.submissionQuestion.findFirstOrThrow({ where: { ...of, number: 1 } })
  const paper = { inputType: like.inputType, responseType: like.responseType, script: like.script, audioUrl: '', videoUrl: '' }
  await service.db.submissionQuestion.create({
    data: { ...of, ...paper, number: 3, points: 10, timeLimit: 0, questionId: question.id, versionId },
  })
  const at = { ...of, questionNumber: 3, createdAt: new Date() }
  const answer = { kind: 'text', state: 'complete', text: 'Bergen', value: BERGEN!, revision: 1 } as const
  await service.db.answerAttempt.create({ data: { ...at, ...answer, id: crypto.randomUUID() } })
  await service.db.questionScore.create({ data: { ...at, keyNumber: 1, points: 0, parts: [] } })
  const { id, grades } = await service.db.release.findFirstOrThrow({ where: of })
  const third = { number: 3, points: 0, ofPoints: 10, comment: '', graderId: null, by: 'key', keyNumber: 1 }
  await service.db.release.update({ where: { id }, data: { ofPoints: 30, grades: [...(grades as object[]), third] } })
}

it.each([
  ['raise', '25/30', [10, 5, 10]],
  ['all', '15/30', [0, 5, 10]],
])('releases the right total if a paper has the version twice: %s', async (releases, total, points) => {
  const made = await makeAnswered(service, ONE, [{ value: OSLO, released: true }])
  await askTwice(made)
  const { preview, correct, scores } = await open(made)
  expect((await preview(BERGEN_IS_RIGHT)).text).toContain('2 are released: of these 1 gets more, 1 less')
  await correct(BERGEN_IS_RIGHT, releases)
  expect((await scores())[0]!.released).toEqual(['15/30', total])
  const where = { submissionId: made.submissionIds[0]!, version: 2 }
  const { grades } = await service.db.release.findFirstOrThrow({ where })
  expect((grades as { points: number }[]).map((grade) => grade.points)).toEqual(points)
})

it('previews each choice about released results if a paper has the version twice', async () => {
  const made = await makeAnswered(service, ONE, [{ value: OSLO, released: true }])
  await askTwice(made)
  // The second question has so few points that the corrected sum would fall below 0, its limit.
  const where = { submissionId: made.submissionIds[0]! }
  const { id, grades } = await service.db.release.findFirstOrThrow({ where })
  const lowered = (grades as { number: number }[]).map((grade) => (grade.number === 2 ? { ...grade, points: -10 } : grade))
  await service.db.release.update({ where: { id }, data: { grades: lowered } })
  const { preview, correct, scores } = await open(made)
  const { text } = await preview(BERGEN_IS_RIGHT)
  const [raise, all] = ['Change only results that rise</h4>', 'Change results that fall, too</h4>'].map(
    (label) => text.split(label)[1]!,
  )
  expect(raise).toContain('2 are released: of these 1 gets more, 0 less')
  expect(all).toContain('2 are released: of these 0 get more, 0 less')
  expect(choicesIn(text)).toEqual(['Change only results that rise: 1 result', 'Change results that fall, too: 1 result'])
  await correct(BERGEN_IS_RIGHT, 'all')
  expect((await scores())[0]!.released).toEqual(['15/30', '0/30'])
})

it('lists answers that were not accepted, groups equal ones, and accepts one for a share', async () => {
  const typed = ['Roma', 'Roma', 'roma ', ' ROMA', 'Athens', 'Rome', '']
  const made = await makeAnswered(
    service,
    WORDS,
    typed.map((value) => ({ value })),
  )
  const { admin, path, correct, scores } = await open(made)
  const page = (await admin.get(path)).text
  expect(page).toContain('Accept<span class="sr-only"> Roma</span>')
  expect([...page.matchAll(/name="accept" value="([^"]*)"/g)].length).toBe(2)
  const fields = { accept: 'Roma', share: '50', reason: 'Accepted: Roma' }
  expect((await correct(fields, 'raise')).status).toBe(303)
  expect((await scores()).map((one) => one.scores.at(-1))).toEqual([5, 5, 5, 5, 0, 10, 0])
  const key = await service.db.answerKey.findFirstOrThrow({ where: { versionId: made.versionId, number: 2 } })
  expect(key.key).toMatchObject({
    accepted: [
      { text: 'Rome', share: 100 },
      { text: 'Roma', share: 50 },
    ],
  })
})

it('rejects a correction that is empty, changes nothing, is invalid, or is outdated', async () => {
  const made = await makeAnswered(service, ONE, FIVE)
  const { admin, path, preview, correct } = await open(made)
  const wrong = async (fields: Record<string, string | string[]>) => {
    const { status, text } = await preview(fields)
    return [status, mistakesIn({ text })]
  }
  expect(await wrong({ ...BERGEN_IS_RIGHT, reason: ' ' })).toEqual([422, [expect.anything()]])
  expect(await wrong({ ...BERGEN_IS_RIGHT, right: 'qkzvwtab' })).toEqual([422, [expect.anything()]])
  expect(await wrong({ ...BERGEN_IS_RIGHT, right: [] })).toEqual([422, [expect.anything()]])
  expect(await wrong({ accept: 'x', share: '0', reason: 'x' })).toEqual([422, [expect.anything()]])
  const tampered = { ...BERGEN_IS_RIGHT, row: ['aaaaaaaa', 'mfpdxhce'], 'text-aaaaaaaa': 'Rome', right: 'aaaaaaaa' }
  expect(await wrong(tampered)).toEqual([422, [expect.anything()]])
  await correct(BERGEN_IS_RIGHT, 'raise')
  const late = await admin.post(path, { effect: 'full', reason: 'All', releases: 'all', seen: '1' })
  expect([late.status, late.text]).toEqual([422, expect.stringContaining('Somebody has corrected the key since')])
})

it('releases results again once, and shows the progress, if its form is resent after a lost response', async () => {
  const made = await makeAnswered(service, ONE, FIVE)
  const { admin, path, preview, scores } = await open(made)
  const { text } = await preview(BERGEN_IS_RIGHT)
  const [, seen = ''] = /name="seen" value="(\d+)"/.exec(text)!
  const [, form = ''] = /name="once" value="([^"]+)"/.exec(text)!
  const fields = { ...BERGEN_IS_RIGHT, releases: 'all', seen, once: form }
  const answers = [await admin.post(path, fields), await admin.post(path, fields)]
  expect(answers.map(({ status, headers }) => [status, headers.location])).toEqual(Array(2).fill([303, path]))
  await waitUntil('the correction', async () => ((await admin.get(path)).text.includes('is applied') ? true : undefined))
  const before = await scores()
  expect((await admin.post(path, fields)).headers.location).toBe(path)
  expect(await scores()).toEqual(before)
  expect(await service.db.answerKey.count({ where: { versionId: made.versionId } })).toBe(2)
})

describe('an outdated question form', () => {
  const { reason: _, effect: __, ...defined } = BERGEN_IS_RIGHT
  const asked = { script: 'What is it?', inputType: 'text', scriptFormat: 'plain', responseType: 'single_choice', points: '10' }
  const OSLO_IS_RIGHT = { ...asked, ...defined, right: 'qkzvwtab' }
  const seenIn = ({ text }: { text: string }) =>
    Object.fromEntries(
      ['seen', 'seenDefinition'].map((name) => [name, new RegExp(`name="${name}" value="([^"]*)"`).exec(text)![1]!]),
    )
  const outdatedNotice = expect.stringContaining('The answers or the answer key were changed in the meantime.')

  async function openForm() {
    const made = await makeAnswered(service, ONE, FIVE)
    const opened = await open(made)
    const { id, assessmentId } = await service.db.question.findFirstOrThrow({ where: { versionId: made.versionId } })
    const form = `${opened.admin.home}assessments/${assessmentId}/questions/${id}`
    const stored = async () => {
      const { versionId } = await service.db.question.findUniqueOrThrow({ where: { id } })
      const where = { organizationId: made.organizationId, versionId: versionId! }
      const { key } = await service.db.answerKey.findFirstOrThrow({ where, orderBy: { number: 'desc' } })
      return [versionId === made.versionId, (key as { right: string[] }).right]
    }
    return { ...opened, form, stored, seen: seenIn(await opened.admin.get(form)) }
  }

  it('does not undo a correction until its sender has seen it', async () => {
    const { admin, form, seen, stored, correct } = await openForm()
    await correct(BERGEN_IS_RIGHT, 'raise')
    const refused = await admin.post(form, { ...OSLO_IS_RIGHT, ...seen })
    expect([refused.status, mistakesIn(refused)]).toEqual([422, [outdatedNotice]])
    expect(await stored()).toEqual([true, BERGEN])
    // Two identical concurrent corrections don't undo each other.
    expect((await admin.post(form, { ...OSLO_IS_RIGHT, right: 'mfpdxhce', ...seen })).status).toBe(303)
    expect(await stored()).toEqual([true, BERGEN])
    expect((await admin.post(form, { ...OSLO_IS_RIGHT, ...seenIn(refused) })).status).toBe(303)
    expect(await stored()).toEqual([false, OSLO])
  })

  it('does not undo an answer that another window has marked as right', async () => {
    const { admin, form, seen, stored } = await openForm()
    expect((await admin.post(form, { ...OSLO_IS_RIGHT, right: 'mfpdxhce', ...seen })).status).toBe(303)
    const late = { ...OSLO_IS_RIGHT, 'text-mfpdxhce': 'Trondheim', ...seen, script: 'What is the capital?' }
    const refused = await admin.post(form, late)
    expect([refused.status, mistakesIn(refused)]).toEqual([422, expect.arrayContaining([outdatedNotice])])
    expect(await stored()).toEqual([false, BERGEN])
  })
})

it.each([
  ['is found in the library by its new content, and no longer by the old', false],
  ['keeps a library question with the same content', true],
])('a question whose key was corrected %s', async (_, isThere) => {
  const made = await makeAnswered(service, ONE, [{ value: OSLO }])
  const { correct } = await open(made)
  const { id: questionId, assessmentId } = await service.db.question.findFirstOrThrow({ where: { versionId: made.versionId } })
  const ctx = asOperator(service, { id: made.organizationId, name: 'Any' })
  const keep = async (right: string[]) => {
    const assessment = await service.make.assessment(made.organizationId)
    const question = await service.make.question(assessment, { script: 'What is it?' })
    const ref = { assessmentId: assessment.id, questionId: question.id }
    await defineQuestion(ctx, ref, { ...ONE, key: { policy: 'exact', right } })
    return saveToLibrary(ctx, ref)
  }
  const corrected = await saveToLibrary(ctx, { assessmentId, questionId })
  const first = isThere ? await keep(BERGEN) : corrected
  expect((await correct(BERGEN_IS_RIGHT, 'raise')).status).toBe(303)
  expect(await keep(BERGEN)).toEqual({ libraryQuestionId: first.libraryQuestionId, number: 1, isNew: false })
  expect(await keep(OSLO)).toMatchObject({ isNew: true })
})

it('shows the form again with another row without a script', async () => {
  const made = await makeAnswered(service, WORDS, [{ value: 'Roma' }])
  const { preview } = await open(made)
  const fields = {
    effect: 'key',
    row: 'aaaaaaaa',
    'text-aaaaaaaa': 'Rome',
    'share-aaaaaaaa': '100',
    otherwise: 'wrong',
    lines: '1',
    reason: 'x',
    rows: 'add',
  }
  const { text } = await preview(fields)
  expect(text.match(/name="row"/g)).toHaveLength(2)
})

it('accepts an answer from the grading view, if it can be accepted and is not yet', async () => {
  const [example] = examplesOf('short_text')
  const made = await makeDefined(service, [example!])
  const submissionId = await made.take([example!.wrong])
  const admin = await signInAs(service, made.organization.id, ['admin'])
  const { text } = await admin.get(`${admin.home}grading/${submissionId}`)
  expect(text).toContain('Accept this answer…')
  const { versionId } = await service.db.question.findFirstOrThrow({ where: { assessmentId: made.assessment.id } })
  const fields = { accept: String(example!.wrong), share: '100', reason: `Accepted: ${example!.wrong}` }
  const preview = await admin.post(`${admin.home}keys/${versionId}/preview`, fields)
  expect(preview.text).toContain('Of 1 answer submitted, 1 gets more, 0 less, 0 the same.')
  const right = await makeDefined(service, [example!])
  const other = await signInAs(service, right.organization.id, ['admin'])
  expect((await other.get(`${other.home}grading/${await right.take([example!.right])}`)).text).not.toContain('Accept this answer')
})

it('links to the key from the question and the grading view once it was asked, and only then', async () => {
  const [example] = examplesOf('single_choice')
  const made = await makeDefined(service, [example!])
  const admin = await signInAs(service, made.organization.id, ['admin'])
  const { versionId, id } = await service.db.question.findFirstOrThrow({ where: { assessmentId: made.assessment.id } })
  const question = `${admin.home}assessments/${made.assessment.id}/questions/${id}`
  expect((await admin.get(question)).text).not.toContain('Correct the key')
  expect((await admin.get(`${admin.home}keys/${versionId}`)).status).toBe(404)
  const submissionId = await made.take([example!.right])
  const link = `keys/${versionId}">Correct the key`
  expect((await admin.get(question)).text).toContain(link)
  expect((await admin.get(`${admin.home}grading/${submissionId}`)).text).toContain(link)
  const grader = await signInAs(service, made.organization.id, ['grader'])
  expect((await grader.get(`${grader.home}grading/${submissionId}`)).text).not.toContain('Correct the key')
})
