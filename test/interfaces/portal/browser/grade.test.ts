import { describe, expect, it } from 'vitest'
import {
  createGradeState,
  formatSavingStatus,
  gradeRules,
  interpretResponse,
} from '../../../../src/interfaces/portal/browser/grade.ts'

const grade = (points: string, comment = '') => ({ points, comment })
const savedGrade = (points: string, seen = '2') => ({ ...grade(points), seen })
const open = (saved = savedGrade('1'), draft: Parameters<typeof createGradeState>[1] = null, own = '2') =>
  createGradeState({ typed: grade(saved.points), saved, gradedAt: own, isRefused: false }, draft)
const draft = (points: string, seen: string, sent: string | null = null) => ({
  ...savedGrade(points, seen),
  sent: sent === null ? null : grade(sent),
})

describe('the initial state of a grade', () => {
  it("is an earlier page's draft that is newer than the saved grade", () => {
    expect(open(savedGrade('1'), draft('3', '2'))).toMatchObject({ typed: grade('3'), sent: null, obstacle: null })
    expect(open(savedGrade('1'), draft('3', '2', '2'))).toMatchObject({ typed: grade('3'), sent: grade('2') })
    expect(open(savedGrade('1'), draft('1,0', '1'))).toMatchObject({ typed: grade('1'), obstacle: null })
  })

  it('asks to choose if its grader saved elsewhere since, unless the draft has arrived', () => {
    const asked = open(savedGrade('1'), draft('3', '1'))
    expect(asked).toMatchObject({ typed: grade('3'), obstacle: { until: 'decided', newer: grade('1') } })
    expect(open(savedGrade('1'), draft('3', '1', '1'))).toMatchObject({ typed: grade('3'), sent: null, obstacle: null })
    expect(open(savedGrade('1'), draft('3', '1'), '')).toMatchObject({ obstacle: null }) // another grader saved it
  })

  it('is the typed text if it differs from the saved grade, or was rejected', () => {
    const typed = grade('9')
    const page = { typed, saved: savedGrade('1'), gradedAt: '2', isRefused: false }
    expect(createGradeState(page, draft('3', '2'))).toMatchObject({ typed, obstacle: null })
    expect(createGradeState({ ...page, isRefused: true }, null)).toMatchObject({
      typed,
      saved: grade(''),
      obstacle: { until: 'typed' },
    })
  })
})

it.each([
  [200, { seen: '3', others: ['Ann'] }, { type: 'saved', saved: { ...grade('2'), seen: '3', others: ['Ann'] } }],
  [409, { points: null, comment: 'x', seen: '3' }, { obstacle: { until: 'decided', newer: { ...grade('', 'x'), seen: '3' } } }],
  [422, { mistakes: ['No.'] }, { type: 'refused', obstacle: { until: 'typed' } }],
  [413, {}, { type: 'refused', obstacle: { until: 'typed' } }],
  [404, {}, { type: 'refused', obstacle: { until: 'answered' }, mayHaveArrived: true }],
  [200, null, { type: 'refused', obstacle: { until: 'typed' }, mayHaveArrived: true }],
])('depends on the response: %i %o', (status, body, happening) => {
  expect(interpretResponse(status, body, grade('2'))).toMatchObject(happening)
})

it('treats grades as equal if the service stores the same', () => {
  expect(gradeRules.isSame(grade(' 3,0', 'x '), grade('3', ' x'))).toBe(true)
  expect(gradeRules.isSame(grade('3.5'), grade('3,05'))).toBe(false)
  expect(gradeRules.isSame(grade(''), grade('0'))).toBe(false)
})

it('shows if it is saved, and why not', () => {
  const saving = open()
  expect(formatSavingStatus(open(savedGrade('')), true, true)).toBe('Saved as you type.')
  expect(formatSavingStatus(saving, true, true)).toBe('Saved.')
  expect(formatSavingStatus({ ...saving, saved: { ...savedGrade('1'), others: ['Ann'] } }, true, true)).toMatch(
    /^Saved\. Ann graded it meanwhile/,
  )
  expect(formatSavingStatus(saving, false, true)).toBe('Saving…')
  expect(formatSavingStatus({ ...saving, isReachable: false }, false, false)).toBe(
    'No connection: not saved yet. Keep this page open.',
  )
  const refused = interpretResponse(422, { mistakes: ['No.'] }, grade('2'))
  if (refused.type === 'refused')
    expect(formatSavingStatus({ ...saving, obstacle: refused.obstacle }, false, true)).toBe('Not saved: No.')
  expect(formatSavingStatus(open(savedGrade('1'), draft('1', '1')), true, true)).toBe('Saved.')
  expect(formatSavingStatus(open(savedGrade('1'), draft('3', '1')), false, true)).toBe('Not saved.')
})
