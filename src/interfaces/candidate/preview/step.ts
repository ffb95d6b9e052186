// Position of a preview, stored only in its address.

/**
 * @property startedAt when the assessment was begun, and `openedAt` when the question was, in milliseconds; null: it is not open.
 * @property answersAt when the preparation of the question was ended; null: it was not.
 */
export type Step =
  | { at: 'open' | 'registered' | 'invited' | 'accepted' | 'agreed' | 'done' | 'declined' }
  | { at: 'taking'; startedAt: number; number: number; openedAt: number | null; answersAt: number | null }

const WORDS = ['open', 'registered', 'invited', 'accepted', 'agreed', 'done', 'declined'] as const

export const printStep = (step: Step): string =>
  step.at === 'taking'
    ? [step.startedAt, step.number, step.openedAt, step.answersAt].filter((part) => part !== null).join('-')
    : step.at

/** @param now where a preview begins at an open question, after its preparation: `question-3`. @returns null for what is none. */
export function readStep(text: string, now: number): Step | null {
  const word = WORDS.find((known) => known === text)
  if (word) return { at: word }
  const direct = /^question-([1-9]\d{0,5})$/.exec(text)
  if (direct) return { at: 'taking', startedAt: now, number: Number(direct[1]), openedAt: now, answersAt: now }
  const parts = /^(\d{13})-([1-9]\d{0,5})(?:-(\d{13}))?(?:-(\d{13}))?$/.exec(text)
  if (!parts) return null
  const [openedAt, answersAt] = [parts[3], parts[4]].map((part) => (part ? Number(part) : null)) as [number | null, number | null]
  return { at: 'taking', startedAt: Number(parts[1]), number: Number(parts[2]), openedAt, answersAt }
}

/** @returns the step after the form of that name; null if the step has no such form. */
export function follow(step: Step, form: string, now: number): Step | null {
  const before: Record<string, Step> = {
    register: { at: 'registered' },
    accept: { at: 'accepted' },
    consent: { at: 'agreed' },
    decline: { at: 'declined' },
    start: { at: 'taking', startedAt: now, number: 1, openedAt: null, answersAt: null },
  }
  if (step.at !== 'taking') return before[form] ?? null
  if (form === 'open') return { ...step, openedAt: now }
  if (form === 'begin' && step.openedAt !== null) return { ...step, answersAt: now }
  if (form === 'answer' || form === 'next') return { ...step, number: step.number + 1, openedAt: null, answersAt: null }
  return form === 'finish' ? { at: 'done' } : null
}
