import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toText } from '../../src/html/html.ts'
import { noPictures } from '../../src/http/pages/pictures.ts'
import { definedKinds, kindOf, kinds, plainKinds } from '../../src/kinds/index.ts'
import { shippedLanguages } from '../../src/locales/languages.ts'

// What every kind promises, whoever has written it: a further one stands in the list, and is tried by these.

const t = shippedLanguages.candidate('en', 'UTC')
const anything = fc.anything({ maxDepth: 3 })
const RUNS = { numRuns: 300 }
const first = () => 0

describe.each(definedKinds.flatMap((kind) => kind.examples.map((example) => ({ kind, ...example }))))(
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

    it('is found by its word, which no other kind has', () => {
      expect(kinds.get(responseType)).toMatchObject({ words: kind.words })
      expect([...definedKinds, ...plainKinds].filter(({ words }) => words.includes(responseType))).toHaveLength(1)
      expect(kindOf({ responseType, version: { responseType } })).toBe(kind)
    })

    it('is kept as a value, and needs no device', () =>
      expect(kinds.answering(responseType)).toEqual({ savedBy: ['value'], records: [], needs: [] }))

    it('has an example with a prompt, and without a fault', () => {
      expect(script).not.toBe('')
      expect(kind.faults(responseType, spec, key)).toEqual([])
    })

    it('says what is wrong with a definition, by a path in it, and fails at none', () =>
      fc.assert(
        fc.property(anything, anything, (oneSpec, oneKey) => {
          const faults = kind.faults(responseType, oneSpec, oneKey)
          return faults.every(({ field, text }) => /^(spec|key)/.test(field) && text !== '')
        }),
        RUNS,
      ))

    it('finds the faults of a key alone, and of a spec alone', () => {
      expect(kind.faults(responseType, spec, {})).not.toEqual([])
      expect(kind.faults(responseType, { other: 1 }, key)).not.toEqual([])
    })

    it('gives all for what is right, less for what is wrong, nothing for nothing', () => {
      expect(share(right)).toBe(1)
      expect(share(wrong)).toBeLessThan(1)
      expect(share(kind.fromForm([]))).toBe(0)
    })

    it('scores the same answer the same, and changes nothing that it is given', () => {
      const before = structuredClone({ spec, key, right })
      expect(kind.score(spec, key, right)).toEqual(kind.score(spec, key, right))
      expect({ spec, key, right }).toEqual(before)
    })

    it('says of each part once what became of it', () => {
      for (const answer of [right, wrong]) {
        const score = kind.score(spec, key, answer)
        const ids = score.state === 'scored' ? score.parts.map(({ id }) => id) : []
        expect(ids).not.toEqual([])
        expect(new Set(ids).size).toBe(ids.length)
      }
    })

    it('scores whatever it takes for an answer, between none and all', () =>
      fc.assert(
        fc.property(fc.oneof(anything, fc.string(), fc.array(fc.string())), (answer) => {
          if (!kind.isAnswer(responseType, spec, answer)) return true
          const given = share(answer)
          return given === null || (given >= 0 && given <= 1)
        }),
        RUNS,
      ))

    it('fails where what was stored is of another form, rather than to guess', () => {
      expect(() => kind.score({ other: 1 }, key, right)).toThrow()
      expect(() => kind.score(spec, { other: 1 }, right)).toThrow()
      expect(() => kind.score(spec, key, { other: 1 })).toThrow()
    })

    it('takes its answers, and nothing of another form', () => {
      for (const answer of [right, wrong]) expect(kind.isAnswer(responseType, spec, answer)).toBe(true)
      for (const other of [null, undefined, 7, { other: 1 }]) expect(kind.isAnswer(responseType, spec, other)).toBe(false)
    })

    it('knows what is no answer', () => {
      expect(kind.isEmpty(kind.fromForm([]))).toBe(true)
      expect(kind.isEmpty(right)).toBe(false)
    })

    it('says an answer in words, right and wrong ones in others', () => {
      expect(kind.describe(spec, right)).not.toBe('')
      expect(kind.describe(spec, right)).not.toBe(kind.describe(spec, wrong))
    })

    it('understands its own words', () => {
      const understood = kind.understand(spec, kind.describe(spec, wrong))
      expect(understood === undefined || kind.isAnswer(responseType, spec, understood)).toBe(true)
    })

    it('has an answer again from what its form sends', () => {
      for (const answer of [right, wrong]) expect(kind.fromForm(kind.toForm(answer))).toEqual(answer)
    })

    it('takes what a form sends without failing', () =>
      fc.assert(
        fc.property(fc.array(fc.string()), (fields) => {
          kind.isAnswer(responseType, spec, kind.fromForm(fields))
        }),
        RUNS,
      ))

    it('makes up an answer', () => expect(kind.isAnswer(responseType, spec, kind.makeUp(spec))).toBe(true))

    it('shows an order by chance alone', () => {
      const orders = Array.from({ length: 50 }, (_, i) => kind.arrange(spec, (below) => (i * 7) % below))
      for (const order of orders) expect(order && [...order].sort()).toEqual(orders[0] && [...orders[0]].sort())
      expect(kind.arrange(spec, first)).toEqual(kind.arrange(spec, first))
    })

    it('is answered by native fields, named so that forms and scripts send them', () => {
      expect(page(null)).toMatch(/<(input|select|textarea)[^>]* name="answer/)
      expect(page(null)).not.toMatch(/<script|style="|onclick/)
      expect(page(null)).toMatch(/<legend|<label/)
    })

    it('shows again what was answered', () => expect(page(right)).not.toBe(page(null)))
  },
)

describe.each(plainKinds.flatMap((kind) => kind.words.map((word) => ({ kind, word }))))(
  'a question of $word',
  ({ kind, word }) => {
    it('is found by its word, and has no definition', () => {
      expect(kindOf({ responseType: word, version: null })).toBe(kind)
      expect(kinds.get(word)).toBeUndefined()
    })

    it('is answered by a text or what can be recorded', () => {
      const { savedBy, records, needs } = kinds.answering(word)
      expect(savedBy).not.toEqual([])
      expect(records.length > 0).toBe(savedBy.includes('recording'))
      expect(needs.length > 0).toBe(kinds.recorded.includes(word))
    })
  },
)

it('takes a word of a kind without a definition, and a word that no kind has, for a text', () => {
  for (const responseType of ['code', 'essay', 'number', 'constructor']) {
    expect(kindOf({ responseType, version: null }).words).toEqual(['text'])
    expect(kinds.answering(responseType).records).toEqual([])
  }
})
