// Position of a preview, stored only in its address.

/**
 * @property startedAt time when the assessment was begun, and `openedAt` when the question was, in milliseconds; null: it is not open.
 * @property answersAt when the preparation of the question was ended; null: it was not. @property paper seed of the drawn paper; null: the
 *   author's order, without sections. @property place in an opened section, or at its overview.
 */
export type Step =
  | { at: 'open' | 'registered' | 'invited' | 'accepted' | 'agreed' | 'done' | 'declined' }
  | {
      at: 'taking'
      startedAt: number
      paper: number | null
      number: number
      place: 'outside' | 'section' | 'overview'
      openedAt: number | null
      answersAt: number | null
    }
export type TakingStep = Extract<Step, { at: 'taking' }>

/** Seeds of papers are below this. */
export const PAPERS = 1e9

const WORDS = ['open', 'registered', 'invited', 'accepted', 'agreed', 'done', 'declined'] as const
const LETTERS = { outside: '', section: 's', overview: 'o' } as const

export function printStep(step: Step): string {
  if (step.at !== 'taking') return step.at
  const { startedAt, paper, number, place, openedAt, answersAt } = step
  const parts = [paper === null ? startedAt : `${startedAt}p${paper}`, number + LETTERS[place], openedAt, answersAt]
  return parts.filter((part) => part !== null).join('-')
}

const STARTED = { paper: null, place: 'outside' } as const

/** @param now time at which an open question begins, after its preparation: `question-3`. @returns null for an invalid step. */
export function readStep(text: string, now: number): Step | null {
  const word = WORDS.find((known) => known === text)
  if (word) return { at: word }
  const direct = /^question-([1-9]\d{0,5})$/.exec(text)
  if (direct) return { ...STARTED, at: 'taking', startedAt: now, number: Number(direct[1]), openedAt: now, answersAt: now }
  const parts = /^(\d{13})(?:p(\d{1,9}))?-([1-9]\d{0,5})([so]?)(?:-(\d{13}))?(?:-(\d{13}))?$/.exec(text)
  if (!parts) return null
  const [paper, openedAt, answersAt] = [parts[2], parts[5], parts[6]].map((part) => (part ? Number(part) : null)) as Times
  const place = parts[4] === 's' ? 'section' : parts[4] === 'o' ? 'overview' : 'outside'
  return { at: 'taking', startedAt: Number(parts[1]), paper, number: Number(parts[3]), place, openedAt, answersAt }
}
type Times = [number | null, number | null, number | null]

/** Numbers of a section's questions. */
export type SectionRange = { first: number; last: number; isFree: boolean }
/**
 * @property newPaper seed of the next paper. @property leaveTo target of leaving a question with free navigation. @property number question to
 * go to.
 */
type FormFacts = { now: number; newPaper: number; leaveTo: string; number: number; sections: readonly SectionRange[] }

const CLOSED = { openedAt: null, answersAt: null }

/** @returns the step after sending that form; null if the step has no such form. */
export function follow(step: Step, form: string, sent: FormFacts): Step | null {
  const before: Record<string, Step> = {
    register: { at: 'registered' },
    accept: { at: 'accepted' },
    consent: { at: 'agreed' },
    decline: { at: 'declined' },
    start: { ...STARTED, ...CLOSED, at: 'taking', startedAt: sent.now, paper: sent.newPaper, number: 1 },
  }
  return step.at === 'taking' ? followTaking(step, form, sent) : (before[form] ?? null)
}

function followTaking(step: TakingStep, form: string, sent: FormFacts): Step | null {
  const section = sent.sections.find(({ first, last }) => first <= step.number && step.number <= last)
  if (form === 'open-section') return { ...step, place: 'section', openedAt: section?.isFree ? sent.now : null }
  if (section?.isFree && step.place !== 'outside') return followFree(step, section, form, sent)
  if (form === 'open') return { ...step, openedAt: sent.now }
  if (form === 'begin' && step.openedAt !== null) return { ...step, answersAt: sent.now }
  if (form === 'answer' || form === 'next') {
    const place = section && step.number < section.last ? step.place : 'outside'
    return { ...step, ...CLOSED, number: step.number + 1, place }
  }
  return form === 'finish' ? { at: 'done' } : null
}

/** Going back and forth in a section. */
function followFree(
  step: TakingStep,
  { first, last }: SectionRange,
  form: string,
  { now, leaveTo, number }: FormFacts,
): Step | null {
  const overview: Step = { ...step, ...CLOSED, place: 'overview' }
  const goTo = (target: number): Step =>
    target < first || target > last ? overview : { ...step, number: target, place: 'section', openedAt: now, answersAt: null }
  if (form === 'go') return goTo(number)
  if (form === 'finish-section') return { ...step, ...CLOSED, number: last + 1, place: 'outside' }
  if (form !== 'answer' && form !== 'next') return null
  if (leaveTo === 'overview') return overview
  if (leaveTo === 'mark' || leaveTo === 'unmark') return step
  return goTo(step.number + (leaveTo === 'previous' ? -1 : 1))
}
