import { type Autosave, createAutosave } from '../../../http/browser/autosave.ts'
import { createButton, createElement, setText } from '../../../http/browser/dom.ts'
import { createDraftStore } from '../../../http/browser/draft-store.ts'
import { requestWithRetry } from '../../../http/browser/retry.ts'
import {
  type Draft,
  type Given,
  type GradeKinds,
  openGrade,
  RELEASED,
  readAnswer,
  rules,
  wordGrade,
  wordOthers,
  wordSaving,
} from './grade.ts'
import { findFields } from './grade-fields.ts'

/** What the service says of the sheet, whatever was asked. @param parts those that differ from what the page shows, by name. */
export type SheetAnswer = { isReleased: boolean; parts: Record<string, { tag: string; text: string }> }

const TRY_MS = 20_000

type Options = {
  /** Under which drafts are kept: of this member, for this question. */
  key: string
  say: (text: string) => void
  /** Which parts of the sheet the page shows, as the service is told. */
  shown: () => string
  answered: (answer: SheetAnswer) => void
  /** Is called when a save is sent; what it returns, when that has ended. */
  sending: () => () => void
}

type Saved = SheetAnswer & Pick<Given, 'others'>
type Drafts = ReturnType<typeof createDraftStore<Draft>>

/**
 * Saves a question's grade as it is typed, one request at a time. What the service does not have yet is kept in the browser, also when the
 * page is closed; it never takes the place of a grade that its grader has given in another window, unless they say so.
 */
export function saveGradeAsTyped(form: HTMLFormElement, { key, say, shown, answered, sending }: Options) {
  const fields = findFields(form)
  const drafts: Drafts = createDraftStore(key)
  const subject = `Question ${form.dataset.grade}`
  const line = createElement('p', { class: 'hint', id: `saved-${form.dataset.grade}` })
  form.querySelector('[data-saving]')!.replaceChildren(line)
  fields.describeBy(line)
  const offer = makeOffer(form, (decided, newer) => {
    if (decided === 'newer') fields.write(newer)
    saver.dispatch({ type: 'saved', saved: newer, typed: fields.read() })
    fields.comment.focus()
  })

  const address = new URL(form.action)
  address.pathname += '/save'
  const stood = form.querySelector<HTMLInputElement>('[name=stood]')!.value
  const post = (sent: object, more: RequestInit): Promise<Response> => {
    const body = new URLSearchParams({ ...sent, stood })
    return fetch(address, { method: 'POST', body, redirect: 'manual', ...more })
  }
  const took = (answer: Saved) => {
    answered(answer)
    if (wordOthers(answer)) say(`${subject}: ${wordOthers(answer)}`)
  }

  const typed = fields.read()
  const page = { typed, saved: fields.asSaved(), own: form.dataset.own ?? '', isRefused: form.hasAttribute('data-unsaved') }
  const begun = openGrade(page, drafts.read())
  const saver: Autosave<GradeKinds> = createAutosave(begun, {
    ...rules,
    async send(sent, { seen }, missed) {
      const ask = () => post({ ...sent, seen, shown: shown() }, { signal: AbortSignal.timeout(TRY_MS) })
      const ended = sending()
      try {
        const answer = (await requestWithRetry(ask, missed))!
        const body = await answer.json().catch(() => null)
        if (answer.ok && body) took(body)
        return readAnswer(answer.status, body, sent)
      } finally {
        ended()
      }
    },
    sendLast: (sent, { seen }) => void post({ ...sent, seen }, { keepalive: true }).catch(() => {}), // it is in the drafts
    storeDraft({ typed, saved, sent }, isSaved) {
      if (isSaved) drafts.clear()
      else drafts.write({ ...typed, seen: saved.seen, sent })
    },
    show(saving, isSaved) {
      const { obstacle, isReachable } = saving
      const text = wordSaving(saving, isSaved, drafts.isKept())
      setText(line, text)
      line.classList.toggle('mistake', !isSaved && obstacle !== null)
      fields.setInvalid(obstacle?.until === 'typed')
      offer(obstacle?.newer)
      if (!isSaved && (obstacle || !isReachable)) say(`${subject}: ${text}`)
    },
  })
  if (begun.typed !== typed) fields.write(begun.typed)
  form.addEventListener('input', () => saver.dispatch({ type: 'typed', typed: fields.read() }))
  listen(form, saver, drafts)
  void saver.save()

  return {
    /** The service has answered something else: what stood in the way may be gone. */
    tryAgain(): void {
      if (saver.now().obstacle?.until === 'answered') saver.dispatch({ type: 'freed' })
    },
    setReleased(): void {
      fields.lock()
      saver.dispatch({ type: 'blocked', obstacle: RELEASED })
    },
  }
}

/** What is saved at once, and what is said before it could be lost. */
function listen(form: HTMLFormElement, saver: Autosave<GradeKinds>, drafts: Drafts): void {
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

/** Shows what the grader has given elsewhere since: they decide what stays. */
function makeOffer(form: HTMLFormElement, decide: (decided: 'typed' | 'newer', newer: Given) => void) {
  const place = createElement('div', { class: 'alert alert-soft alert-error', role: 'alert', hidden: true })
  form.append(place)
  let offered: Given | undefined
  return (newer: Given | undefined): void => {
    if (newer === offered) return
    offered = newer
    place.hidden = newer === undefined
    if (!newer) return
    place.replaceChildren(
      createElement(
        'p',
        {},
        'You have since graded this question in another window: ',
        createElement('strong', {}, wordGrade(newer)),
      ),
      createButton('Keep what is typed here', () => decide('typed', newer), 'btn btn-sm'),
      ' ',
      createButton('Use that grade', () => decide('newer', newer), 'btn btn-sm'),
    )
  }
}
