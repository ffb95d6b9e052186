import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  advance,
  begin,
  type Effect,
  type Happening,
  isSaved,
  type Kinds,
  type Saving,
} from '../../../src/http/browser/saving.ts'

type Words = { typed: string; saved: string; obstacle: Kinds['obstacle'] }
type Until = Words['obstacle']['until']

const rules = { isSame: (typed: string, saved: string) => typed === saved, isNumbered: false }

/** All that happens, one after the other. */
function go(happenings: Happening<Words>[], { begun = begin<Words>('', ''), isNumbered = false } = {}) {
  let saving: Saving<Words> = begun
  const effects: Effect<Words>[] = []
  for (const happening of happenings) {
    const [next, wanted] = advance(saving, happening, { ...rules, isNumbered })
    saving = next
    effects.push(...wanted)
  }
  const sent = effects.flatMap((effect) => ('sent' in effect ? [`${effect.do} ${effect.sent}`] : []))
  return { saving, sent, isSaved: isSaved(saving, rules) }
}

const type = (typed: string): Happening<Words> => ({ is: 'typed', typed })
const save = (saved: string): Happening<Words> => ({ is: 'saved', saved })
const refuse = (until: Until, mayHaveArrived = false): Happening<Words> => ({
  is: 'refused',
  obstacle: { until },
  mayHaveArrived,
})
const [due, missed, freed, leaving]: Happening<Words>[] = [{ is: 'due' }, { is: 'missed' }, { is: 'freed' }, { is: 'leaving' }]

it('sends one after the other, however much is typed meanwhile', () => {
  const first = go([type('a'), due!, type('ab'), due!, missed!, type('abc')])
  expect([first.sent, first.saving.isReachable, first.isSaved]).toEqual([['send a'], false, false])
  const all = go([save('a'), save('abc')], { begun: first.saving })
  expect([all.sent, all.saving.isReachable, all.isSaved]).toEqual([['send abc'], true, true])
  expect(go([due!], { begun: all.saving }).sent).toEqual([])
})

it('asks first what was sent and not answered, also by a page before', () => {
  const begun = { ...begin<Words>('ab', ''), sent: 'a' }
  expect(go([due!, save('a'), save('ab')], { begun })).toMatchObject({ sent: ['send a', 'send ab'], isSaved: true })
  expect(go([type('a'), due!, refuse('answered', true), type('b'), freed!]).sent).toEqual(['send a', 'send a'])
  expect(go([type('a'), due!, refuse('typed'), type('b'), due!]).sent).toEqual(['send a', 'send b'])
})

it.each<[Until, Happening<Words>]>([
  ['typed', type('b')],
  ['answered', freed!],
  ['decided', { is: 'saved', saved: 'c', typed: 'b' }],
])('sends nothing until what stands in the way is %s, and then goes on', (until, ends) => {
  const stopped = go([type('a'), due!, refuse(until)])
  for (const other of [due!, freed!, type('b')].filter(({ is }) => is !== ends.is))
    expect(go([other], { begun: stopped.saving }).sent).toEqual([])
  expect(go([ends, due!], { begun: stopped.saving }).sent).toHaveLength(1)
})

it('takes what arrives after it was blocked for saved, and sends nothing more', () => {
  const blocked: Happening<Words> = { is: 'blocked', obstacle: { until: 'reloaded' } }
  const { saving, sent } = go([type('a'), due!, type('ab'), blocked, save('a'), freed!, due!, leaving!])
  expect([saving.saved, sent]).toEqual(['a', ['send a']])
  expect(go([type('a'), due!, blocked, refuse('typed')]).saving.obstacle?.until).toBe('reloaded')
})

it('sends once while it is left: what is on its way must not be overtaken, unless it is numbered', () => {
  expect(go([type('a'), leaving!, type('ab'), leaving!, due!]).sent).toEqual(['sendLast a', 'send a'])
  expect(go([type('a'), due!, type('ab'), leaving!]).sent).toEqual(['send a'])
  expect(go([type('a'), due!, type('ab'), leaving!], { isNumbered: true }).sent).toEqual(['send a', 'sendLast ab'])
  expect(go([leaving!]).sent).toEqual([])
})

/** What it comes to, where answers only come to what was asked. */
function follow(happening: Happening<Words>, begun: Saving<Words>): Saving<Words> {
  const isAnswer = ['missed', 'saved', 'refused'].includes(happening.is)
  if (isAnswer && !begun.isAsking) return begun
  const { saving, sent } = go([happening.is === 'saved' ? save(begun.sent!) : happening], { begun })
  if (begun.isAsking && !isAnswer) expect(sent).toEqual([])
  if (saving.obstacle) expect(sent).toEqual([])
  return saving
}

it('never asks for two things at once, and saves what was typed last, whatever happens', () => {
  const answers = [missed!, save(''), refuse('typed'), refuse('answered', true)]
  const any = fc.constantFrom(type('a'), type('b'), due!, leaving!, freed!, ...answers)
  fc.assert(
    fc.property(fc.array(any, { maxLength: 40 }), (happenings) => {
      let saving = begin<Words>('', '')
      for (const happening of [...happenings, freed!, type('last'), due!]) saving = follow(happening, saving)
      while (saving.isAsking) saving = follow(save(''), saving)
      expect([saving.saved, isSaved(saving, rules)]).toEqual(['last', true])
    }),
  )
})
