// A question's grade while it is typed: what the page begins with, what the service's answers mean, and what is said of it.

import { initialState, type SaveEvent, type SaveState, type SaveTypes } from '../../../http/browser/save-state.ts'

/** As it is typed. */
export type Grade = { points: string; comment: string }
/** As the service has it. @param seen up to when the grades are seen. @param others who else has graded the question meanwhile. */
export type Given = Grade & { seen: string; others?: string[] }
/** In the browser. @param sent what was on its way: whether it has arrived is not known. */
export type Draft = Grade & { seen: string; sent: Grade | null }

/** Why a grade is not saved. @param newer what its grader has given elsewhere: they have to say what stays. */
type Obstacle = SaveTypes['obstacle'] & { why: (kept: string) => string; newer?: Given }
export type GradeKinds = { typed: Grade; saved: Given; obstacle: Obstacle }

const SIGNED_OUT: Obstacle = {
  until: 'answered',
  why: (kept) => `: you are signed out. ${kept}: sign in in another window, and come back here.`,
}
const GONE: Obstacle = { until: 'answered', why: (kept) => `: you can no longer grade this sheet. ${kept}.` }
export const RELEASED: Obstacle = {
  until: 'reloaded',
  why: (kept) => `: the result has been released. ${kept}: reopen the result to save it.`,
}
const refusedFor = (mistakes: string[]): Obstacle => ({ until: 'typed', why: () => `: ${mistakes.join(' ')}` })
const lostTo = (newer: Given): Obstacle => ({ until: 'decided', why: () => '.', newer })

const NOT_TAKEN = ['something went wrong. Reload this page.']

/** Whether the service would keep the same of both: it takes no white space around a comment, and "3,0" for "3". */
const isSame = (one: Grade, other: Grade): boolean =>
  one.comment.trim() === other.comment.trim() && toNumber(one.points) === toNumber(other.points)

export const rules = { isSame, isNumbered: false }

const toNumber = (points: string): string => {
  const typed = points.trim().replace(',', '.')
  return /^\d+(\.\d+)?$/.test(typed) ? String(Number(typed)) : typed
}

/**
 * @param page what is typed in it by now, and what is saved. @param page.own when its grader gave what is saved; empty: they have not.
 * @param page.isRefused what is typed was sent as a form, and is said to be wrong.
 * @param draft what an earlier page has left, unless it is there by now: it takes the place of nothing that was given after it.
 */
export function openGrade(
  { typed, saved, own, isRefused }: { typed: Grade; saved: Given; own: string; isRefused: boolean },
  draft: Draft | null,
): SaveState<GradeKinds> {
  const begun = initialState<GradeKinds>(typed, isRefused ? { ...saved, points: '', comment: '' } : saved)
  if (isRefused) return { ...begun, obstacle: refusedFor(['see what is wrong above.']) }
  if (!draft || !isSame(typed, saved) || isSame(draft, saved)) return begun
  const { points, comment, seen, sent } = draft
  const kept = { ...begun, typed: { points, comment } }
  const hasArrived = sent !== null && isSame(sent, saved)
  if (own > seen && !hasArrived) return { ...kept, obstacle: lostTo(saved) }
  return { ...kept, sent: hasArrived ? null : sent }
}

type Answer = Partial<{ points: number | null; comment: string; seen: string; others: string[]; mistakes: string[] }>

/**
 * What an answer means. One that says nothing of the grade itself leaves open whether an earlier try, whose answer was lost, has arrived.
 *
 * @param body null where it could not be read: it was cut off, or is of whoever stands before the service.
 */
export function readAnswer(status: number, body: Answer | null, sent: Grade): SaveEvent<GradeKinds> {
  const { points, comment = '', seen = '', others = [], mistakes = NOT_TAKEN } = body ?? {}
  if (status === 401) return { type: 'refused', obstacle: SIGNED_OUT, mayHaveArrived: true }
  if (status === 404) return { type: 'refused', obstacle: GONE, mayHaveArrived: true }
  if (status === 200 && body) return { type: 'saved', saved: { ...sent, seen, others } }
  if (status === 409 && body) return { type: 'refused', obstacle: lostTo({ points: String(points ?? ''), comment, seen }) }
  return { type: 'refused', obstacle: refusedFor(mistakes), mayHaveArrived: status === 200 }
}

/** @param isKept whether the browser keeps what is not saved. */
export function wordSaving(saving: SaveState<GradeKinds>, isSaved: boolean, isKept: boolean): string {
  const { typed, saved, obstacle, isReachable } = saving
  const kept = isKept ? 'What you have typed is kept in this browser' : 'Keep this page open'
  if (isSaved && !obstacle?.newer)
    return typed.points + typed.comment === '' ? 'Saved as you type.' : ['Saved.', wordOthers(saved)].join(' ').trim()
  if (obstacle) return `Not saved${obstacle.why(kept)}`
  return isReachable ? 'Saving…' : `No connection: not saved yet. ${kept}.`
}

export const wordOthers = ({ others = [] }: Pick<Given, 'others'>): string =>
  others.length > 0 ? `${others.join(', ')} graded it meanwhile, too: both grades are kept.` : ''

export const wordGrade = ({ points, comment }: Grade): string =>
  [points === '' ? 'no points' : `${points} points`, comment && `“${comment}”`].filter(Boolean).join(', ')
