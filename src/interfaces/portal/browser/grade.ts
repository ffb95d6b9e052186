// State of a grade while it is typed: initial state, meaning of the service's responses, and status texts.

import { initialState, type SaveEvent, type SaveState, type SaveTypes } from '../../../http/browser/save-state.ts'

/** @property levels chosen levels of the rubric, separated by spaces; empty if none is chosen. */
export type Grade = { points: string; comment: string; levels?: string | undefined }
/**
 * A saved grade. @property seen time of the newest grade that the page knows. @property others names of other graders who have graded the
 * question meanwhile.
 */
export type SavedGrade = Grade & { seen: string; others?: string[] }
/** A draft in the browser. @property sent grade of a request without a response: it may have arrived. */
export type Draft = Grade & { seen: string; sent: Grade | null }

/** Reason why a grade is not saved. @property newer a grade that its grader saved elsewhere: they choose which one stays. */
type Obstacle = SaveTypes['obstacle'] & { why: (advice: string) => string; newer?: SavedGrade }
export type GradeKinds = { typed: Grade; saved: SavedGrade; obstacle: Obstacle }

const SIGNED_OUT: Obstacle = {
  until: 'answered',
  why: (advice) => `: you are signed out. ${advice}: sign in in another window, and come back here.`,
}
const GONE: Obstacle = { until: 'answered', why: (advice) => `: you can no longer grade this submission. ${advice}.` }
export const RELEASED_OBSTACLE: Obstacle = {
  until: 'reloaded',
  why: (advice) => `: the result has been released. ${advice}: reopen the result to save it.`,
}
const refusedFor = (mistakes: string[]): Obstacle => ({ until: 'typed', why: () => `: ${mistakes.join(' ')}` })
const conflictWith = (newer: SavedGrade): Obstacle => ({ until: 'decided', why: () => '.', newer })

const NOT_TAKEN = ['something went wrong. Reload this page.']

/** True if the service would store both alike: it trims comments, and reads "3,0" as 3. */
const isSame = (a: Grade, b: Grade): boolean =>
  a.comment.trim() === b.comment.trim() && toNumber(a.points) === toNumber(b.points) && (a.levels ?? '') === (b.levels ?? '')

export const gradeRules = { isSame, isNumbered: false }

const toNumber = (points: string): string => {
  const typed = points.trim().replace(',', '.')
  return /^\d+(\.\d+)?$/.test(typed) ? String(Number(typed)) : typed
}

/**
 * @param page.gradedAt time when this grader saved the grade; empty if they have not.
 * @param page.isRefused true if the typed grade was sent as a form and refused.
 * @param draft from an earlier page, unless it was saved since: it replaces no grade that is newer.
 */
export function createGradeState(
  { typed, saved, gradedAt, isRefused }: { typed: Grade; saved: SavedGrade; gradedAt: string; isRefused: boolean },
  draft: Draft | null,
): SaveState<GradeKinds> {
  const initial = initialState<GradeKinds>(typed, isRefused ? { ...saved, points: '', comment: '', levels: '' } : saved)
  if (isRefused) return { ...initial, obstacle: refusedFor(['see what is wrong above.']) }
  if (!draft || !isSame(typed, saved) || isSame(draft, saved)) return initial
  const { points, comment, levels, seen, sent } = draft
  const draftState = { ...initial, typed: { points, comment, levels } }
  const hasArrived = sent !== null && isSame(sent, saved)
  if (gradedAt > seen && !hasArrived) return { ...draftState, obstacle: conflictWith(saved) }
  return { ...draftState, sent: hasArrived ? null : sent }
}

type GradeResponse = Partial<{
  points: number | null
  comment: string
  levels: string
  seen: string
  others: string[]
  mistakes: string[]
}>

/**
 * A response without a grade leaves open whether an earlier request, whose response was lost, has arrived.
 *
 * @param body null if it could not be read: it was cut off, or comes from a proxy in front of the service.
 */
export function interpretResponse(status: number, body: GradeResponse | null, sent: Grade): SaveEvent<GradeKinds> {
  const { points, comment = '', levels = '', seen = '', others = [], mistakes = NOT_TAKEN } = body ?? {}
  if (status === 401) return { type: 'refused', obstacle: SIGNED_OUT, mayHaveArrived: true }
  if (status === 404) return { type: 'refused', obstacle: GONE, mayHaveArrived: true }
  if (status === 200 && body) return { type: 'saved', saved: { ...sent, seen, others } }
  if (status === 409 && body)
    return { type: 'refused', obstacle: conflictWith({ points: String(points ?? ''), comment, levels, seen }) }
  return { type: 'refused', obstacle: refusedFor(mistakes), mayHaveArrived: status === 200 }
}

/** @param isKept true if the browser stores unsaved grades. */
export function formatSavingStatus(saving: SaveState<GradeKinds>, isSaved: boolean, isKept: boolean): string {
  const { typed, saved, obstacle, isReachable } = saving
  const advice = isKept ? 'What you have typed is kept in this browser' : 'Keep this page open'
  if (isSaved && !obstacle?.newer)
    return typed.points + typed.comment === '' ? 'Saved as you type.' : ['Saved.', formatOtherGraders(saved)].join(' ').trim()
  if (obstacle) return `Not saved${obstacle.why(advice)}`
  return isReachable ? 'Saving…' : `No connection: not saved yet. ${advice}.`
}

export const formatOtherGraders = ({ others = [] }: Pick<SavedGrade, 'others'>): string =>
  others.length > 0 ? `${others.join(', ')} graded it meanwhile, too: both grades are kept.` : ''

export const formatGrade = ({ points, comment }: Grade): string =>
  [points === '' ? 'no points' : `${points} points`, comment && `“${comment}”`].filter(Boolean).join(', ')
