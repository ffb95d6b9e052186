import { describe, expect, it } from 'vitest'
import { openGrade, readAnswer, rules, wordSaving } from '../../../../src/interfaces/portal/browser/grade.ts'

const grade = (points: string, comment = '') => ({ points, comment })
const given = (points: string, seen = '2') => ({ ...grade(points), seen })
const open = (saved = given('1'), draft: Parameters<typeof openGrade>[1] = null, own = '2') =>
  openGrade({ typed: grade(saved.points), saved, own, isRefused: false }, draft)
const draft = (points: string, seen: string, sent: string | null = null) => ({
  ...given(points, seen),
  sent: sent === null ? null : grade(sent),
})

describe('what a page begins with', () => {
  it('is what an earlier page has left, if that was typed after what is saved', () => {
    expect(open(given('1'), draft('3', '2'))).toMatchObject({ typed: grade('3'), sent: null, obstacle: null })
    expect(open(given('1'), draft('3', '2', '2'))).toMatchObject({ typed: grade('3'), sent: grade('2') })
    expect(open(given('1'), draft('1,0', '1'))).toMatchObject({ typed: grade('1'), obstacle: null })
  })

  it('asks what stays where its grader has graded elsewhere since, not where that is what was on its way', () => {
    const asked = open(given('1'), draft('3', '1'))
    expect(asked).toMatchObject({ typed: grade('3'), obstacle: { until: 'decided', newer: grade('1') } })
    expect(open(given('1'), draft('3', '1', '1'))).toMatchObject({ typed: grade('3'), sent: null, obstacle: null })
    expect(open(given('1'), draft('3', '1'), '')).toMatchObject({ obstacle: null }) // it was somebody else
  })

  it('is what stands in the fields, where that is not what is saved or was refused', () => {
    const typed = grade('9')
    const page = { typed, saved: given('1'), own: '2', isRefused: false }
    expect(openGrade(page, draft('3', '2'))).toMatchObject({ typed, obstacle: null })
    expect(openGrade({ ...page, isRefused: true }, null)).toMatchObject({ typed, saved: grade(''), obstacle: { until: 'typed' } })
  })
})

it.each([
  [200, { seen: '3', others: ['Ann'] }, { is: 'saved', saved: { ...grade('2'), seen: '3', others: ['Ann'] } }],
  [409, { points: null, comment: 'x', seen: '3' }, { obstacle: { until: 'decided', newer: { ...grade('', 'x'), seen: '3' } } }],
  [422, { mistakes: ['No.'] }, { is: 'refused', obstacle: { until: 'typed' } }],
  [413, {}, { is: 'refused', obstacle: { until: 'typed' } }],
  [404, {}, { is: 'refused', obstacle: { until: 'answered' }, mayHaveArrived: true }],
  [200, null, { is: 'refused', obstacle: { until: 'typed' }, mayHaveArrived: true }],
])('reads what is answered: %i %o', (status, body, happening) => {
  expect(readAnswer(status, body, grade('2'))).toMatchObject(happening)
})

it('takes for the same what the service would keep the same', () => {
  expect(rules.isSame(grade(' 3,0', 'x '), grade('3', ' x'))).toBe(true)
  expect(rules.isSame(grade('3.5'), grade('3,05'))).toBe(false)
  expect(rules.isSame(grade(''), grade('0'))).toBe(false)
})

it('says whether it is saved, and why not', () => {
  const saving = open()
  expect(wordSaving(open(given('')), true, true)).toBe('Saved as you type.')
  expect(wordSaving(saving, true, true)).toBe('Saved.')
  expect(wordSaving({ ...saving, saved: { ...given('1'), others: ['Ann'] } }, true, true)).toMatch(
    /^Saved\. Ann graded it meanwhile/,
  )
  expect(wordSaving(saving, false, true)).toBe('Saving…')
  expect(wordSaving({ ...saving, isReachable: false }, false, false)).toBe('No connection: not saved yet. Keep this page open.')
  const refused = readAnswer(422, { mistakes: ['No.'] }, grade('2'))
  if (refused.type === 'refused')
    expect(wordSaving({ ...saving, obstacle: refused.obstacle }, false, true)).toBe('Not saved: No.')
  expect(wordSaving(open(given('1'), draft('1', '1')), true, true)).toBe('Saved.')
  expect(wordSaving(open(given('1'), draft('3', '1')), false, true)).toBe('Not saved.')
})
