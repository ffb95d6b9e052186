import fc from 'fast-check'
import { expect, it } from 'vitest'
import { EMPTY_QUESTION } from '../../../src/domain/assessments/edit-questions.ts'
import type { LibraryContent } from '../../../src/domain/library/content.ts'
import { type FileFormat, readFile } from '../../../src/kinds/file-formats/read-file.ts'
import { fileWriters } from '../../../src/kinds/file-formats/write-file.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { exportQuestion, importQuestion } from '../../../src/kinds/library-questions.ts'
import type { NeutralQuestion } from '../../../src/kinds/neutral.ts'
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
  .record({ accepted: texts(1, 4), share: fc.constantFrom(100, 40), lines: fc.constantFrom(1, 1, 3) })
  .map(({ accepted, share, lines }) => ({
    responseType: 'short_text',
    spec: { lines },
    key: {
      accepted: accepted.map((one, i) => ({ text: one, share: i === 0 ? 100 : share })),
      caseSensitive: false,
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

const content = fc
  .record({
    definition: fc.oneof(choice, number, words, matching, fc.constant(null)),
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

/** Choices that fit none have no order. */
const inOrder = ({ answer, ...question }: NeutralQuestion) => ({
  ...question,
  answer: answer.as === 'pairs' ? { ...answer, pairs: answer.pairs.toSorted() } : answer,
})

it.each(['csv', 'xlsx', 'gift'] as FileFormat[])(
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
      { numRuns: format === 'xlsx' ? scaled(30, 300) : scaled(200, 2_000) },
    )
    expect(held).toBeGreaterThan(scaled(4, 40))
  },
)
