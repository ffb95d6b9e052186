import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EMPTY_QUESTION } from '../../../src/domain/assessments/question-input.ts'
import type { LibraryContent } from '../../../src/domain/library/content.ts'
import { type FileFormat, readFile } from '../../../src/kinds/file-formats/read-file.ts'
import { fileWriters } from '../../../src/kinds/file-formats/write-file.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { exportQuestion, importQuestion } from '../../../src/kinds/library-questions.ts'
import { byShare, type NeutralQuestion } from '../../../src/kinds/neutral.ts'
import { scaled } from '../../support/scale.ts'

// Without reported losses, export and import return the same question.

const text = fc
  .array(fc.constantFrom(...'ab5 %;|~=#{}:\\\n->/*+@\'"[]'), { minLength: 1, maxLength: 10 })
  .map((signs) => signs.join('').trim())
  .filter((one) => one !== '')
const texts = (least: number, most: number) => fc.uniqueArray(text, { minLength: least, maxLength: most })
const idOf = (i: number): string => `optionx${'abcdefghij'[i]}`

const choice = fc
  .record({
    options: texts(2, 5),
    several: fc.boolean(),
    shuffle: fc.constantFrom(true, true, true, false),
    policy: fc.constantFrom('balanced', 'exact', 'weights'),
    shares: fc.array(fc.constantFrom(0, 100, 50, -50), { minLength: 5, maxLength: 5 }),
  })
  .map(({ options, several, shuffle, policy, shares }) => {
    const named = options.map((one, i) => ({ id: idOf(i), text: one }))
    const right = named.filter((_, i) => shares[i]! > 0).map(({ id }) => id)
    const weights = Object.fromEntries(named.map(({ id }, i) => [id, shares[i]!]).filter(([, share]) => share !== 0))
    const responseType = several ? 'multiple_choice' : 'single_choice'
    return {
      responseType,
      spec: { options: named, shuffle },
      key: policy === 'weights' ? { policy, weights } : { policy, right },
    }
  })
const decimal = fc.tuple(fc.integer({ min: -999, max: 999 }), fc.constantFrom('', '.5', '.25')).map((parts) => parts.join(''))
const positive = decimal.map((one) => one.replace('-', ''))
const number = fc
  .record({
    unit: fc.constantFrom(undefined, undefined, 'km'),
    answers: fc.array(
      fc.oneof(
        fc.record({ value: decimal, share: fc.constantFrom(100, 50) }),
        fc.record({
          value: decimal,
          tolerance: fc.record({ by: positive, in: fc.constantFrom('absolute', 'percent') }),
          share: fc.constant(100),
        }),
        fc.record({ from: decimal, to: decimal, share: fc.constant(100) }),
      ),
      { minLength: 1, maxLength: 3 },
    ),
  })
  .map(({ unit, answers }) => ({ responseType: 'number', spec: unit ? { unit } : {}, key: { answers } }))
const words = fc
  .record({
    accepted: texts(1, 4),
    share: fc.constantFrom(100, 40),
    lines: fc.constantFrom(1, 1, 3),
    caseSensitive: fc.constantFrom(false, false, true),
  })
  .map(({ accepted, share, lines, caseSensitive }) => ({
    responseType: 'short_text',
    spec: { lines },
    key: {
      accepted: accepted.map((one, i) => ({ text: one, share: i === 0 ? 100 : share })),
      caseSensitive,
      ignore: { accents: false, punctuation: false },
      otherwise: 'wrong',
    },
  }))
const matching = fc.record({ prompts: texts(2, 4), choices: texts(2, 5) }).map(({ prompts, choices }) => ({
  responseType: 'matching',
  spec: {
    prompts: prompts.map((one, i) => ({ id: idOf(i), text: one })),
    choices: choices.map((one, i) => ({ id: `choicex${'abcdefghij'[i]}`, text: one })),
    shuffle: true,
  },
  key: { pairs: Object.fromEntries(prompts.map((_, i) => [idOf(i), `choicex${'abcdefghij'[i % choices.length]}`])) },
}))

const ordering = texts(2, 4).map((items) => ({
  responseType: 'ordering',
  spec: { items: items.map((one, i) => ({ id: idOf(i), text: one })) },
  key: { order: items.map((_, i) => idOf(i)).toReversed() },
}))

const content = fc
  .record({
    definition: fc.oneof(choice, number, words, matching, ordering, fc.constant(null)),
    script: text,
    scriptFormat: fc.constantFrom('plain', 'markdown'),
    points: fc.constantFrom(1, 1, 5),
    timeLimit: fc.constantFrom(0, 0, 60),
    preparationTime: fc.constantFrom(0, 0, 30),
    responseType: fc.constantFrom('text', 'audio', 'video', 'mixed', 'own word'),
  })
  .filter(
    ({ definition }) =>
      definition === null ||
      kinds.get(definition.responseType)!.faults(definition.responseType, definition.spec, definition.key).length === 0,
  )
  .map(
    ({ definition, responseType, ...input }): LibraryContent => ({
      input: { ...EMPTY_QUESTION, ...input, responseType: definition?.responseType ?? responseType },
      definition,
    }),
  )

/** Sorts what has no order: unmatched choices, and accepted answers, of which the one with the most points counts. */
const inOrder = ({ answer, ...question }: NeutralQuestion) => ({ ...question, answer: sortParts(answer) })
function sortParts(answer: NeutralQuestion['answer']): NeutralQuestion['answer'] {
  if (answer.as === 'pairs') return { ...answer, pairs: answer.pairs.toSorted() }
  if (answer.as === 'number') return { ...answer, ranges: byShare(answer.ranges) }
  return answer.as === 'words' ? { ...answer, accepted: byShare(answer.accepted) } : answer
}

it.each(['csv', 'xlsx', 'gift', 'moodle'] as FileFormat[])(
  'keeps a question unchanged through export and import as %s unless it reports losses',
  (format) => {
    const { losses: lossesOf, create } = fileWriters[format]
    let held = 0
    fc.assert(
      fc.property(content, (given) => {
        const { question, losses } = exportQuestion(given, { name: 'A name', category: 'One / Two' })
        if (losses.length > 0 || lossesOf(question).length > 0) return
        held++
        const { write, end } = create()
        const file = Buffer.concat([write([question]), end()].map((part) => Buffer.from(part)))
        const back = readFile(file, 10).rows.map(importQuestion)
        expect(back).toEqual([expect.objectContaining({ name: 'A name', category: 'One / Two', losses: [] })])
        const [taken] = back
        if (!taken || !('content' in taken)) throw new Error('it is refused')
        const again = exportQuestion(taken.content, taken)
        expect(again.losses).toEqual([])
        expect(inOrder(again.question)).toEqual(inOrder(question))
      }),
      { numRuns: format === 'xlsx' ? scaled(60, 600) : scaled(200, 2_000) },
    )
    expect(held).toBeGreaterThan(scaled(4, 40))
  },
)

describe('the Moodle writer', () => {
  const options = (...shares: number[]): NeutralQuestion => ({
    ...{ name: 'N', category: '', text: 'Which?', isFormatted: false, points: 1 },
    answer: { as: 'options', several: true, options: shares.map((share, i) => ({ text: idOf(i), share })) },
  })
  const { losses, create } = fileWriters.moodle
  const fractionsOf = (question: NeutralQuestion) =>
    [...String(create().write([question])).matchAll(/fraction="([^"]*)"/g)].map(([, fraction]) => fraction)

  it('writes shares that Moodle supports, and reports those far from them', () => {
    const near = options(34, 33, 33, -51, 0)
    expect([fractionsOf(near), losses(near)]).toEqual([['33.33333', '33.33333', '33.33333', '-50', '0'], []])
    expect([fractionsOf(options(45, 55)), losses(options(45, 55))]).toEqual([
      ['50', '60'],
      ['Moodle has no share of 45 %: it becomes 50 %.', 'Moodle has no share of 55 %: it becomes 60 %.'],
    ])
  })

  it('writes the answer with the most points first', () => {
    const accepted = [
      { text: 'An*', share: 50 },
      { text: 'Ann', share: 100 },
    ]
    expect(fractionsOf({ ...options(), answer: { as: 'words', accepted } })).toEqual(['100', '50'])
  })
})
