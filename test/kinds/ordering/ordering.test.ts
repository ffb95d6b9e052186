import { describe, expect, it } from 'vitest'
import { readDefinition } from '../../../src/kinds/authors.ts'
import { orderingAuthor } from '../../../src/kinds/ordering/author.ts'
import { examples } from '../../../src/kinds/ordering/example.ts'
import { orderingRules } from '../../../src/kinds/ordering/rules.ts'

const idOf = (letter: string) => letter.repeat(8)
const specOf = (letters: string) => ({ items: [...letters].map((letter) => ({ id: idOf(letter), text: `Item ${letter}` })) })
const keyOf = (letters: string) => ({ order: [...letters].map(idOf) })
/** `a2 b1`: item a has place 2, item b has place 1. */
const placesOf = (places: string) =>
  Object.fromEntries(
    places
      .split(' ')
      .filter(Boolean)
      .map((place) => [idOf(place[0]!), Number(place.slice(1))]),
  )

describe('an answer to an ordering question', () => {
  const spec = specOf('abcd')
  const key = keyOf('cadb')

  it.each([
    ['c1 a2 d3 b4', 4],
    ['c1 a2 b3 d4', 2],
    ['c1', 1],
    ['a1 b1 c1 d1', 1],
    ['a1 c2 b3 d4', 0],
    ['', 0],
  ])('scores %j as %d of 4', (places, got) =>
    expect(orderingRules.score(spec, key, placesOf(places))).toMatchObject({ got, of: 4 }),
  )

  it('has a verdict for each item', () => {
    expect(orderingRules.score(spec, key, placesOf('c1 a3'))).toMatchObject({
      parts: [
        { id: idOf('a'), verdict: 'wrong' },
        { id: idOf('b'), verdict: 'missed' },
        { id: idOf('c'), verdict: 'right' },
        { id: idOf('d'), verdict: 'missed' },
      ],
    })
  })

  it('is valid only with items and places of the question', () => {
    const takes = (answer: unknown) => orderingRules.isAnswer('ordering', spec, answer)
    expect(takes(placesOf('a4 b1'))).toBe(true)
    for (const places of ['a5', 'a0', 'q1', 'a1.5']) expect(takes(placesOf(places)), places).toBe(false)
    expect(takes([idOf('a')])).toBe(false)
  })

  it('is read from the fields of a form, without items that have no place', () => {
    expect(orderingRules.fromForm(['', `${idOf('b')}.2`, ''])).toEqual(placesOf('b2'))
    for (const odd of ['nopoint', `${idOf('a')}.`, '.1', '__proto__.1'])
      expect(orderingRules.isAnswer('ordering', spec, orderingRules.fromForm([odd])), odd).toBe(false)
  })

  it('is described in the chosen order, and understood from it', () => {
    const words = orderingRules.describe(spec, placesOf('d1 a3'))
    expect(words).toBe('1. Item d\n3. Item a')
    expect(orderingRules.understand(spec, words)).toEqual(placesOf('d1 a3'))
    for (const other of ['Item d', '1. Item q', '1 Item d']) expect(orderingRules.understand(spec, other), other).toBeUndefined()
  })
})

it('shuffles the items for each candidate', () => {
  const firsts = new Set<string>()
  for (let i = 0; i < 100; i++) {
    const order = orderingRules.arrange(specOf('abc'), (below) => (i + below) % below)!
    expect(order.toSorted()).toEqual(['a', 'b', 'c'].map(idOf))
    firsts.add(order[0]!)
  }
  expect(firsts.size).toBe(3)
})

describe('an ordering definition', () => {
  it.each([
    ['with one item', specOf('a'), keyOf('a'), 'spec.items'],
    ['if the key lacks an item', specOf('abc'), keyOf('ab'), 'key.order'],
    ['if the key names an item twice', specOf('abc'), keyOf('aab'), 'key.order'],
    ['if the key names an unknown item', specOf('ab'), keyOf('aq'), 'key.order'],
    ['with one id twice', specOf('aa'), keyOf('aa'), 'spec'],
    ['with more than 20 items', specOf('abcdefghijklmnopqrstu'), keyOf('abcdefghijklmnopqrstu'), 'spec.items'],
  ])('is rejected %s', (_, spec, key, field) =>
    expect(orderingRules.faults('ordering', spec, key).map((fault) => fault.field)).toContain(field),
  )

  it('is rejected with two items of the same text', () => {
    const spec = specOf('ab')
    spec.items[1]!.text = ' Item  A'.toLowerCase().replace('item', 'Item')
    expect(orderingRules.faults('ordering', spec, keyOf('ab'))).toMatchObject([{ field: 'spec.items.1.text' }])
  })
})

describe("the author's form of an ordering question", () => {
  const [{ spec, key }] = examples as [(typeof examples)[0]]
  const print = () => orderingAuthor.print(spec, key, () => 3)

  it('reads the definition that it was printed from', () => {
    expect(orderingAuthor.read('ordering', print())).toMatchObject({ spec, key, faults: [] })
  })

  it('hides the order of the rows in the stored items', () => {
    const values = new URLSearchParams()
    for (const [id, text] of [
      [idOf('x'), 'Zebra'],
      [idOf('y'), 'Ant'],
    ] as const) {
      values.append('row', id)
      values.set(`text-${id}`, text)
    }
    const read = orderingAuthor.read('ordering', values)
    expect(read.spec).toEqual({
      items: [
        { id: idOf('y'), text: 'Ant' },
        { id: idOf('x'), text: 'Zebra' },
      ],
    })
    expect(read.key).toEqual(keyOf('xy'))
  })

  it("changes only the order if the question can't be changed", () => {
    const values = print()
    const [first, second, third] = (key as { order: [string, string, string] }).order
    for (const [id, place] of Object.entries({ [first]: '3', [second]: '1', [third]: '2' })) values.set(`place-${id}`, place)
    expect(orderingAuthor.read('ordering', values)).toMatchObject({ spec, key: { order: [second, third, first] }, faults: [] })
    values.set(`place-${second}`, '3')
    expect(readDefinition('ordering', values).faults).toMatchObject([{ field: 'items', text: 'Two items have the same place.' }])
  })

  it('names texts that are too long, and too few items, beside their fields', () => {
    const values = print()
    const [first] = values.getAll('row') as [string]
    values.set(`text-${first}`, 'x'.repeat(501))
    expect(readDefinition('ordering', values).faults.map(({ field }) => field)).toContain(`text-${first}`)
    expect(readDefinition('ordering', new URLSearchParams()).faults.map(({ field }) => field)).toContain('items')
  })
})
