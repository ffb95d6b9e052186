import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toText } from '../../src/html/html.ts'
import { noPictures } from '../../src/http/pages/pictures.ts'
import { definedKinds, kindOf, kinds, plainKinds } from '../../src/kinds/index.ts'
import { shippedLanguages } from '../../src/locales/languages.ts'

// Contract of every kind. New kinds in the list are tested automatically.

const t = shippedLanguages.candidate('en', 'UTC')
const anything = fc.anything({ maxDepth: 3 })
const RUNS = { numRuns: 300 }
const first = () => 0

it.each(definedKinds)('has an example and a form for each response type of $words', ({ words, examples, author }) => {
  expect([...new Set(examples.map(({ responseType }) => responseType))].sort()).toEqual([...words].sort())
  expect([...new Set(author.offers.map(({ word }) => word))].sort()).toEqual([...words].sort())
})

const examples = definedKinds.flatMap((kind) => kind.examples.map((example) => ({ kind, ...example })))

describe.each(examples.filter(({ kind }) => !kind.files))(
  'a question of $responseType',
  ({ kind, responseType, script, spec, key, right, wrong }) => {
    const shown = kind.arrange(spec, first) ?? []
    const page = (value: unknown) => {
      const version = { responseType, spec }
      const text = { text: value === null ? '' : kind.describe(spec, value), revision: 1 }
      return toText(kind.control(t, { version, shown, value, text, language: null, pictures: noPictures, isWritten: true }))
    }
    const share = (answer: unknown) => {
      const score = kind.score(spec, key, answer)
      return score.state === 'scored' ? score.got / score.of : null
    }

    it('has a unique response type', () => {
      expect(kinds.get(responseType)).toMatchObject({ words: kind.words })
      expect([...definedKinds, ...plainKinds].filter(({ words }) => words.includes(responseType))).toHaveLength(1)
      expect(kindOf({ responseType, version: { responseType } })).toBe(kind)
    })

    it('is stored as a value, and needs no device', () =>
      expect(kinds.answering(responseType)).toEqual({ savedBy: ['value'], records: [], needs: [] }))

    it('has a valid example with a prompt', () => {
      expect(script).not.toBe('')
      expect(kind.faults(responseType, spec, key)).toEqual([])
    })

    it('reports faults of any definition by path, without throwing', () =>
      fc.assert(
        fc.property(anything, anything, (oneSpec, oneKey) => {
          const faults = kind.faults(responseType, oneSpec, oneKey)
          return faults.every(({ field, text }) => /^(spec|key)/.test(field) && text !== '')
        }),
        RUNS,
      ))

    it('finds faults of the key and of the spec separately', () => {
      expect(kind.faults(responseType, spec, {})).not.toEqual([])
      expect(kind.faults(responseType, { other: 1 }, key)).not.toEqual([])
    })

    it('gives all points for a right answer, fewer for a wrong one, and none for an empty one', () => {
      expect(share(right)).toBe(1)
      expect(share(wrong)).toBeLessThan(1)
      expect(share(kind.fromForm([]))).toBe(0)
    })

    it('scores deterministically, and does not change its arguments', () => {
      const before = structuredClone({ spec, key, right })
      expect(kind.score(spec, key, right)).toEqual(kind.score(spec, key, right))
      expect({ spec, key, right }).toEqual(before)
    })

    it('has one verdict for each part', () => {
      for (const answer of [right, wrong]) {
        const score = kind.score(spec, key, answer)
        const ids = score.state === 'scored' ? score.parts.map(({ id }) => id) : []
        expect(ids).not.toEqual([])
        expect(new Set(ids).size).toBe(ids.length)
      }
    })

    it('scores any valid answer between none and all points', () =>
      fc.assert(
        fc.property(fc.oneof(anything, fc.string(), fc.array(fc.string())), (answer) => {
          if (!kind.isAnswer(responseType, spec, answer)) return true
          const given = share(answer)
          return given === null || (given >= 0 && given <= 1)
        }),
        RUNS,
      ))

    it('throws for invalid stored values', () => {
      expect(() => kind.score({ other: 1 }, key, right)).toThrow()
      expect(() => kind.score(spec, { other: 1 }, right)).toThrow()
      expect(() => kind.score(spec, key, { other: 1 })).toThrow()
    })

    it('accepts its own answers only', () => {
      for (const answer of [right, wrong]) expect(kind.isAnswer(responseType, spec, answer)).toBe(true)
      for (const other of [null, undefined, 7, { other: 1 }]) expect(kind.isAnswer(responseType, spec, other)).toBe(false)
    })

    it('recognizes empty answers', () => {
      expect(kind.isEmpty(kind.fromForm([]))).toBe(true)
      expect(kind.isEmpty(right)).toBe(false)
    })

    it('describes right and wrong answers differently', () => {
      expect(kind.describe(spec, right)).not.toBe('')
      expect(kind.describe(spec, right)).not.toBe(kind.describe(spec, wrong))
    })

    it('understands its own descriptions', () => {
      const understood = kind.understand(spec, kind.describe(spec, wrong))
      expect(understood === undefined || kind.isAnswer(responseType, spec, understood)).toBe(true)
    })

    it('reads an answer from its form', () => {
      for (const answer of [right, wrong]) expect(kind.fromForm(kind.toForm(answer))).toEqual(answer)
    })

    it('reads any form without throwing', () =>
      fc.assert(
        fc.property(fc.array(fc.string()), (fields) => {
          kind.isAnswer(responseType, spec, kind.fromForm(fields))
        }),
        RUNS,
      ))

    it('generates a valid answer', () => expect(kind.isAnswer(responseType, spec, kind.makeUp(spec))).toBe(true))

    it('shuffles by the given random function only', () => {
      const orders = Array.from({ length: 50 }, (_, i) => kind.arrange(spec, (below) => (i * 7) % below))
      for (const order of orders) expect(order && [...order].sort()).toEqual(orders[0] && [...orders[0]].sort())
      expect(kind.arrange(spec, first)).toEqual(kind.arrange(spec, first))
    })

    it('is answered by native fields with the expected names', () => {
      expect(page(null)).toMatch(/<(input|select|textarea)[^>]* name="answer/)
      expect(page(null)).not.toMatch(/<script|style="|onclick/)
      expect(page(null)).toMatch(/<legend|<label/)
    })

    it('shows the stored answer', () => expect(page(right)).not.toBe(page(null)))
  },
)

describe.each(examples.filter(({ kind }) => kind.files))(
  'a question of $responseType',
  ({ kind, responseType, script, spec, key, right }) => {
    it('has a unique response type, and a valid example with a prompt', () => {
      expect([...definedKinds, ...plainKinds].filter(({ words }) => words.includes(responseType))).toHaveLength(1)
      expect(kindOf({ responseType, version: { responseType } })).toBe(kind)
      expect(script).not.toBe('')
      expect(kind.faults(responseType, spec, key)).toEqual([])
    })

    it('accepts files, and leaves every answer to graders', () => {
      expect(kinds.answering(responseType)).toEqual({ savedBy: ['file'], records: [], needs: [] })
      expect(kind.files!(spec).maxFiles).toBeGreaterThan(0)
      expect(kind.files!(spec).types).not.toEqual([])
      expect(kind.score(spec, key, right)).toEqual({ state: 'people' })
    })

    it('has no form fields, and reads nothing from a form', () => {
      const version = { responseType, spec }
      const asked = { version, shown: [], value: right, text: null, language: null, pictures: noPictures, isWritten: false }
      const page = toText(kind.control(t, asked))
      expect(page).not.toMatch(/ name="|<script|style="|onclick/)
      expect(page).toMatch(/<label/)
      expect(kind.isEmpty(kind.fromForm(['anything']))).toBe(true)
    })

    it('reports faults of any definition by path, without throwing', () =>
      fc.assert(
        fc.property(anything, anything, (oneSpec, oneKey) =>
          kind.faults(responseType, oneSpec, oneKey).every(({ field, text }) => /^(spec|key)/.test(field) && text !== ''),
        ),
        RUNS,
      ))
  },
)

describe.each(plainKinds.flatMap((kind) => kind.words.map((word) => ({ kind, word }))))(
  'a question of $word',
  ({ kind, word }) => {
    it('is found by its response type, and has no definition', () => {
      expect(kindOf({ responseType: word, version: null })).toBe(kind)
      expect(kinds.get(word)).toBeUndefined()
    })

    it('is answered by a text or a recording', () => {
      const { savedBy, records, needs } = kinds.answering(word)
      expect(savedBy).not.toEqual([])
      expect(records.length > 0).toBe(savedBy.includes('recording'))
      expect(needs.length > 0).toBe(kinds.recorded.includes(word))
    })
  },
)

it('kindOf returns the text kind for unknown and undefined response types', () => {
  for (const responseType of ['code', 'essay', 'number', 'constructor']) {
    expect(kindOf({ responseType, version: null }).words).toEqual(['text'])
    expect(kinds.answering(responseType).records).toEqual([])
  }
})
