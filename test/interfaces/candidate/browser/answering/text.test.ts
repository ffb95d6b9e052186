import { expect, it } from 'vitest'
import { isSaved, transition } from '../../../../../src/http/browser/save-state.ts'
import {
  formatSaving,
  openText,
  readRefusal,
  readSaved,
  rules,
  toRequest,
  typeAfter,
} from '../../../../../src/interfaces/candidate/browser/answering/text.ts'
import { t } from '../../../../support/browser-texts.ts'

const server = { text: 'There', revision: 4 }

it.each([
  ['later', 'Later', 5, 'Later', false],
  ['the whole of a text that is too long', 'There, and more', 4, 'There, and more', true],
  ['another text of the saved revision', 'Elsewhere', 4, 'There', true],
  ['earlier', 'There was', 3, 'There', true],
])('begins with the text of an earlier page if it is newer than the saved one: %s', (_is, text, revision, typed, saved) => {
  const begun = openText(server, { text, revision, at: Date.now() - 60_000 })
  expect([begun.typed.text, isSaved(begun, rules)]).toEqual([typed, saved])
})

it('sends how long ago a text was typed, even if an earlier page left it', () => {
  const ago = (at?: number) =>
    JSON.parse(JSON.stringify(toRequest(openText(server, { text: 'Later', revision: 5, ...(at && { at }) }).typed))).ago
  expect(ago(Date.now() - 60_000)).toBeGreaterThanOrEqual(60_000)
  expect(ago(Date.now() + 60_000)).toBeLessThan(60_000) // the device clock was set back
  expect(ago()).toBeLessThan(60_000)
})

it('gives a text a higher revision than one that another page has saved meanwhile', () => {
  const begun = openText(server, null)
  const sent = typeAfter(begun.typed, 'Typed here')
  const [typed] = transition(begun, { type: 'typed', typed: sent }, rules)
  const [asking] = transition(typed, { type: 'due' }, rules)
  const [next, effects] = transition(asking, readSaved(9, sent, asking.typed), rules)
  expect(effects).toMatchObject([{ type: 'send', sent: { text: 'Typed here', revision: 10 } }])
  const [saved] = transition(next, readSaved(10, next.typed, next.typed), rules)
  expect(isSaved(saved, rules)).toBe(true)
})

it('shows whether a text is saved, and why not', () => {
  const begun = openText(server, null)
  expect(formatSaving(t, openText({ text: '', revision: 0 }, null), true, true, true)).toBe('Saved as you type.')
  expect(formatSaving(t, begun, true, false, true)).toBe('Saved.')
  expect(formatSaving(t, begun, false, true, true)).toBe('Saving…')
  expect(formatSaving(t, begun, false, false, true)).toBe('No connection: not saved yet, but kept on this device.')
  expect(formatSaving(t, begun, false, false, false)).toBe('No connection: not saved yet. Keep this page open.')
  for (const [code, why] of [
    ['closed', /^The time was over/],
    ['invalid', /^Your last words could not be saved/],
  ] as const)
    expect(formatSaving(t, { ...begun, obstacle: readRefusal(t, code) }, true, true, true)).toMatch(why)
})
