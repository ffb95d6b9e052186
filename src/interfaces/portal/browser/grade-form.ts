import { type Autosave, createAutosave } from '../../../http/browser/autosave.ts'
import { createButton, createElement, setText } from '../../../http/browser/dom.ts'
import { createDraftStore } from '../../../http/browser/draft-store.ts'
import { requestWithRetry } from '../../../http/browser/retry.ts'
import {
  createGradeState,
  type Draft,
  formatGrade,
  formatOtherGraders,
  formatSavingStatus,
  type GradeKinds,
  gradeRules,
  interpretResponse,
  RELEASED_OBSTACLE,
  type SavedGrade,
} from './grade.ts'
import { findFields } from './grade-fields.ts'

/** State of the whole grading view, in every response. @param parts parts that differ from those on the page, by name. */
export type GradingViewResponse = { isReleased: boolean; parts: Record<string, { tag: string; text: string }> }

const TRY_MS = 20_000

type Options = {
  /** Storage key of drafts: this member and this question. */
  key: string
  say: (text: string) => void
  /** Tags of the parts that the page shows, sent with each request. */
  listShown: () => string
  onAnswer: (answer: GradingViewResponse) => void
  /** Called when a save is sent. Returns a function to call when it has ended. */
  sending: () => () => void
}

type Saved = GradingViewResponse & Pick<SavedGrade, 'others'>
type Drafts = ReturnType<typeof createDraftStore<Draft>>

/**
 * Saves a question's grade as it is typed, one request at a time. Unsaved grades are kept in the browser, also after the page is closed. A
 * draft never replaces a grade that its grader saved in another window, unless they choose so.
 */
export function saveGradeAsTyped(form: HTMLFormElement, { key, say, listShown, onAnswer, sending }: Options) {
  const fields = findFields(form)
  const drafts: Drafts = createDraftStore(key)
  const subject = `Question ${form.dataset.grade}`
  const line = createElement('p', { class: 'hint', id: `saved-${form.dataset.grade}` })
  form.querySelector('[data-saving]')!.replaceChildren(line)
  fields.describeBy(line)
  const offer = createConflictChoice(form, (decided, newer) => {
    if (decided === 'newer') fields.write(newer)
    saver.dispatch({ type: 'saved', saved: newer, typed: fields.read() })
    fields.comment.focus()
  })

  const address = new URL(form.action)
  address.pathname += '/save'
  const effectivePoints = form.querySelector<HTMLInputElement>('[name=stood]')!.value
  const post = (sent: object, more: RequestInit): Promise<Response> => {
    const body = new URLSearchParams({ ...sent, stood: effectivePoints })
    return fetch(address, { method: 'POST', body, redirect: 'manual', ...more })
  }
  const handleSaved = (answer: Saved) => {
    onAnswer(answer)
    if (formatOtherGraders(answer)) say(`${subject}: ${formatOtherGraders(answer)}`)
  }

  const typed = fields.read()
  const page = { typed, saved: fields.asSaved(), gradedAt: form.dataset.own ?? '', isRefused: form.hasAttribute('data-unsaved') }
  const gradeState = createGradeState(page, drafts.read())
  const saver: Autosave<GradeKinds> = createAutosave(gradeState, {
    ...gradeRules,
    async send(sent, { seen }, missed) {
      const ask = () => post({ ...sent, seen, shown: listShown() }, { signal: AbortSignal.timeout(TRY_MS) })
      const endSending = sending()
      try {
        const answer = (await requestWithRetry(ask, missed))!
        const body = await answer.json().catch(() => null)
        if (answer.ok && body) handleSaved(body)
        return interpretResponse(answer.status, body, sent)
      } finally {
        endSending()
      }
    },
    sendLast: (sent, { seen }) => void post({ ...sent, seen }, { keepalive: true }).catch(() => {}), // it is in the drafts
    storeDraft({ typed, saved, sent }, isSaved) {
      if (isSaved) drafts.clear()
      else drafts.write({ ...typed, seen: saved.seen, sent })
    },
    show(saving, isSaved) {
      const { obstacle, isReachable } = saving
      const text = formatSavingStatus(saving, isSaved, drafts.isKept())
      setText(line, text)
      line.classList.toggle('mistake', !isSaved && obstacle !== null)
      fields.setInvalid(obstacle?.until === 'typed')
      offer(obstacle?.newer)
      if (!isSaved && (obstacle || !isReachable)) say(`${subject}: ${text}`)
    },
  })
  if (gradeState.typed !== typed) fields.write(gradeState.typed)
  form.addEventListener('input', () => saver.dispatch({ type: 'typed', typed: fields.read() }))
  saveOnInput(form, saver, drafts)
  void saver.save()

  return {
    /** Saves. Resolves to true if the grade is saved. */
    async save(): Promise<boolean> {
      await saver.save()
      return saver.isSaved()
    },
    hasPoints: () => fields.read().points.trim() !== '' || fields.read().levels !== '',
    /** Retries after another response arrived, which may have removed the obstacle. */
    tryAgain(): void {
      if (saver.now().obstacle?.until === 'answered') saver.dispatch({ type: 'freed' })
    },
    setReleased(): void {
      fields.lock()
      saver.dispatch({ type: 'blocked', obstacle: RELEASED_OBSTACLE })
    },
  }
}

/** Saves on changes, and before the page could be closed. */
function saveOnInput(form: HTMLFormElement, saver: Autosave<GradeKinds>, drafts: Drafts): void {
  const save = (event: Event) => {
    event.preventDefault()
    event.stopPropagation()
    void saver.save()
  }
  form.addEventListener('submit', save, true)
  window.addEventListener('pagehide', () => saver.dispatch({ type: 'leaving' }))
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) void saver.save()
  })
  window.addEventListener('beforeunload', (event) => {
    if (!saver.isSaved() && !drafts.isKept()) event.preventDefault()
  })
}

/** Shows a grade that the grader saved elsewhere since; they choose which one stays. */
function createConflictChoice(form: HTMLFormElement, decide: (decided: 'typed' | 'newer', newer: SavedGrade) => void) {
  const place = createElement('div', { class: 'alert alert-soft alert-error', role: 'alert', hidden: true })
  form.append(place)
  let offeredGrade: SavedGrade | undefined
  return (newer: SavedGrade | undefined): void => {
    if (newer === offeredGrade) return
    offeredGrade = newer
    place.hidden = newer === undefined
    if (!newer) return
    place.replaceChildren(
      createElement(
        'p',
        {},
        'You have since graded this question in another window: ',
        createElement('strong', {}, formatGrade(newer)),
      ),
      createButton('Keep what is typed here', () => decide('typed', newer), 'btn btn-sm'),
      ' ',
      createButton('Use that grade', () => decide('newer', newer), 'btn btn-sm'),
    )
  }
}
