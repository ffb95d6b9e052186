import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  initialState,
  isSaved,
  type SaveEffect,
  type SaveEvent,
  type SaveState,
  type SaveTypes,
  transition,
} from '../../../src/http/browser/save-state.ts'

type Words = { typed: string; saved: string; obstacle: SaveTypes['obstacle'] }
type Until = Words['obstacle']['until']

const rules = { isSame: (typed: string, saved: string) => typed === saved, isNumbered: false }

/** Applies the events in order. */
function go(happenings: SaveEvent<Words>[], { begun = initialState<Words>('', ''), isNumbered = false } = {}) {
  let saving: SaveState<Words> = begun
  const effects: SaveEffect<Words>[] = []
  for (const happening of happenings) {
    const [next, wanted] = transition(saving, happening, { ...rules, isNumbered })
    saving = next
    effects.push(...wanted)
  }
  const sent = effects.flatMap((effect) => ('sent' in effect ? [`${effect.type} ${effect.sent}`] : []))
  return { saving, sent, isSaved: isSaved(saving, rules) }
}

const type = (typed: string): SaveEvent<Words> => ({ type: 'typed', typed })
const save = (saved: string): SaveEvent<Words> => ({ type: 'saved', saved })
const refuse = (until: Until, mayHaveArrived = false): SaveEvent<Words> => ({
  type: 'refused',
  obstacle: { until },
  mayHaveArrived,
})
const [due, missed, freed, leaving]: SaveEvent<Words>[] = [
  { type: 'due' },
  { type: 'missed' },
  { type: 'freed' },
  { type: 'leaving' },
]

it('save state sends one request at a time while the user types', () => {
  const first = go([type('a'), due!, type('ab'), due!, missed!, type('abc')])
  expect([first.sent, first.saving.isReachable, first.isSaved]).toEqual([['send a'], false, false])
  const all = go([save('a'), save('abc')], { begun: first.saving })
  expect([all.sent, all.saving.isReachable, all.isSaved]).toEqual([['send abc'], true, true])
  expect(go([due!], { begun: all.saving }).sent).toEqual([])
})

it('save state first repeats an unanswered request, even of an earlier page load', () => {
  const begun = { ...initialState<Words>('ab', ''), sent: 'a' }
  expect(go([due!, save('a'), save('ab')], { begun })).toMatchObject({ sent: ['send a', 'send ab'], isSaved: true })
  expect(go([type('a'), due!, refuse('answered', true), type('b'), freed!]).sent).toEqual(['send a', 'send a'])
  expect(go([type('a'), due!, refuse('typed'), type('b'), due!]).sent).toEqual(['send a', 'send b'])
})

it.each<[Until, SaveEvent<Words>]>([
  ['typed', type('b')],
  ['answered', freed!],
  ['decided', { type: 'saved', saved: 'c', typed: 'b' }],
])('save state stops at an obstacle and continues once it is %s', (until, ends) => {
  const stopped = go([type('a'), due!, refuse(until)])
  for (const other of [due!, freed!, type('b')].filter(({ type }) => type !== ends.type))
    expect(go([other], { begun: stopped.saving }).sent).toEqual([])
  expect(go([ends, due!], { begun: stopped.saving }).sent).toHaveLength(1)
})

it('save state accepts an answer after it was blocked, and sends nothing more', () => {
  const blocked: SaveEvent<Words> = { type: 'blocked', obstacle: { until: 'reloaded' } }
  const { saving, sent } = go([type('a'), due!, type('ab'), blocked, save('a'), freed!, due!, leaving!])
  expect([saving.saved, sent]).toEqual(['a', ['send a']])
  expect(go([type('a'), due!, blocked, refuse('typed')]).saving.obstacle?.until).toBe('reloaded')
})

it('save state sends once while the page unloads, unless an unnumbered request is pending', () => {
  expect(go([type('a'), leaving!, type('ab'), leaving!, due!]).sent).toEqual(['sendLast a', 'send a'])
  expect(go([type('a'), due!, type('ab'), leaving!]).sent).toEqual(['send a'])
  expect(go([type('a'), due!, type('ab'), leaving!], { isNumbered: true }).sent).toEqual(['send a', 'sendLast ab'])
  expect(go([leaving!]).sent).toEqual([])
})

/** Advances by an event. An answer without a pending request is ignored. */
function follow(happening: SaveEvent<Words>, begun: SaveState<Words>): SaveState<Words> {
  const isAnswer = ['missed', 'saved', 'refused'].includes(happening.type)
  if (isAnswer && !begun.isSending) return begun
  const { saving, sent } = go([happening.type === 'saved' ? save(begun.sent!) : happening], { begun })
  if (begun.isSending && !isAnswer) expect(sent).toEqual([])
  if (saving.obstacle) expect(sent).toEqual([])
  return saving
}

it('save state never has two pending requests, and finally saves the last input', () => {
  const answers = [missed!, save(''), refuse('typed'), refuse('answered', true)]
  const any = fc.constantFrom(type('a'), type('b'), due!, leaving!, freed!, ...answers)
  fc.assert(
    fc.property(fc.array(any, { maxLength: 40 }), (happenings) => {
      let saving = initialState<Words>('', '')
      for (const happening of [...happenings, freed!, type('last'), due!]) saving = follow(happening, saving)
      while (saving.isSending) saving = follow(save(''), saving)
      expect([saving.saved, isSaved(saving, rules)]).toEqual(['last', true])
    }),
  )
})
