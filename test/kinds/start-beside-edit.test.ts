import { expect, it } from 'vitest'
import { toQuestionInput } from '../../src/domain/assessments/edit-questions.ts'
import { getQuestion } from '../../src/domain/assessments/questions.ts'
import { hashDefinition, readDefinitionToWrite, updateDefinedQuestion } from '../../src/domain/assessments/write-question.ts'
import { makeDefined } from '../support/kinds.ts'
import { startServiceForFile } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

// A candidate starts while an author edits a question. The candidate must get text and options of the same edit.

const service = await startServiceForFile({ ROLE: 'api' })
const { db } = service

const [A, B] = ['qkzvwtab', 'mfpdxhce']
/** A definition whose options name the edit, like the text of its question. */
const definitionOf = (edit: string) => ({
  responseType: 'single_choice',
  spec: {
    options: [
      { id: A, text: `${edit}: yes` },
      { id: B, text: `${edit}: no` },
    ],
    shuffle: false,
  },
  key: { policy: 'exact', right: [A] },
})

async function makeTwo() {
  const made = await makeDefined(service, [definitionOf('first'), definitionOf('first')])
  const { ctx, asked, assessment } = made
  /** Edits the question with this number. */
  const edit = async (number: number, name: string) => {
    const ref = { assessmentId: assessment.id, questionId: asked[number - 1]!.id }
    const question = await getQuestion(ctx, ref)
    const seen = { question: question.updatedAt, definition: hashDefinition((await readDefinitionToWrite(ctx, ref))!) }
    const input = { ...toQuestionInput(question), script: `${name}?` }
    await updateDefinedQuestion(ctx, ref, { input, definition: definitionOf(name), faults: [] }, seen)
  }
  /** Reads text and first option of each question of the candidate. */
  const paper = async () => {
    const { id: submissionId } = await made.submission()
    const questions = await db.submissionQuestion.findMany({
      where: { submissionId },
      include: { version: true },
      orderBy: { number: 'asc' },
    })
    return questions.map(({ script, version }) => [script, (version!.spec as { options: { text: string }[] }).options[0]!.text])
  }
  return { ...made, edit, paper }
}

/** @param like pattern of the waiting statements. */
const waitForLocks = (count: number, like = '%') =>
  waitUntil(`${count} statements to wait for a lock`, async () => {
    const waiting = await db.$queryRaw<object[]>`
      SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE ${like}`
    return waiting.length >= count || undefined
  })

it('waits at the start for an edit of the options in progress', async () => {
  const made = await makeTwo()
  const question = made.asked[0]!.id
  const { editing, starting } = await db.$transaction(async (tx) => {
    // Until this transaction ends, the edit has written its version, but not yet the text.
    await tx.$queryRaw`SELECT id FROM questions WHERE id = ${question}::uuid FOR NO KEY UPDATE`
    const editing = made.edit(1, 'second')
    await waitForLocks(1)
    const starting = made.start()
    await waitForLocks(2)
    return { editing, starting }
  })
  await Promise.all([editing, starting])
  expect((await made.paper())[0]).toEqual(['second?', 'second: yes'])
})

it('copies the questions again at the start if one has changed in between', async () => {
  const made = await makeTwo()
  const [one, two] = made.asked.map(({ id }) => id)
  await db.questionVersion.updateMany({
    where: { questions: { some: { id: two! } } },
    data: { lockedAt: service.clock.now() },
  })
  const both = await db.$transaction(async (text) => {
    const later = await db.$transaction(async (version) => {
      await version.$queryRaw`
        SELECT v.id FROM question_versions v JOIN questions q ON q.version_id = v.id WHERE q.id = ${one!}::uuid FOR NO KEY UPDATE OF v`
      const starting = made.start()
      await waitForLocks(1)
      // The candidate's start has already read the versions, and this edit creates another one.
      await made.edit(2, 'second')
      await text.$queryRaw`SELECT id FROM questions WHERE id = ${two!}::uuid FOR NO KEY UPDATE`
      const editing = made.edit(2, 'third')
      await waitForLocks(2)
      return { starting, editing }
    })
    // The start continues, has copied the second edit, and waits for its version, which the third edit has locked.
    await waitForLocks(1, '%locked_at%submission_questions%')
    return later
  })
  await Promise.all([both.starting, both.editing])
  expect(await made.paper()).toEqual([
    ['What is 1?', 'first: yes'],
    ['third?', 'third: yes'],
  ])
})
