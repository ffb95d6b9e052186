import { button, make, setText } from '../../../http/browser/dom.ts'
import { openDrafts } from '../../../http/browser/drafts.ts'
import { askUntilAnswered } from '../../../http/browser/retry.ts'
import { actWhileTyping } from '../../../http/browser/typing.ts'
import { findFields, type Grade, isSame, wordGrade } from './grade-fields.ts'

/** What the service says of the sheet, whatever was asked. @param parts those that differ from what the page shows, by name. */
export type SheetAnswer = { isReleased: boolean; parts: Record<string, { tag: string; text: string }> }

/** @param seen up to when the grades are seen. @param sent what was on its way: whether it has arrived is not known. */
type Draft = Grade & { seen: string; sent: Grade | null }
type Newer = Grade & { seen: string }
type Saved = SheetAnswer & { seen: string; others: string[] }

/** Why nothing is sent; empty: nothing is in the way. `newer`: the grader has graded it elsewhere, and has to say what stays. */
type Obstacle = '' | 'refused' | 'newer' | 'signed_out' | 'gone' | 'released'

const TRY_MS = 20_000

type Options = {
  /** Under which drafts are kept: of this member, for this question. */
  key: string
  say: (text: string) => void
  /** Which parts of the sheet the page shows, as the service is told. */
  shown: () => string
  answered: (answer: SheetAnswer) => void
}

/**
 * Saves a question's grade as it is typed, one request at a time. What the service does not have yet is kept in the browser, also when the
 * page is closed; it never takes the place of a grade that its grader has given in another window, unless they say so.
 */
export function saveGradeAsTyped(form: HTMLFormElement, { key, say, shown, answered }: Options) {
  const fields = findFields(form)
  const drafts = openDrafts<Draft>(key)
  const number = form.dataset.grade!
  const line = make('p', { class: 'hint saved', id: `saved-${number}` })
  const choice = make('div', { class: 'notice bad', role: 'alert', hidden: true })
  form.querySelector('button')!.replaceWith(line)
  form.append(choice)
  fields.describeBy(line)
  const typing = actWhileTyping(() => void save())
  let saved = fields.asSaved()
  let seen = fields.seen()
  /** What was sent, and not answered. Until it is, nothing else is sent: whether it has arrived decides what the next takes the place of. */
  let sent: Grade | null = null
  let saving: Promise<void> | null = null
  let isReachable = true
  let obstacle: Obstacle = ''
  let newer: Newer | null = null
  /** What to say after what is saved, or why it is not. */
  let aside = ''

  const isSaved = () => isSame(fields.read(), saved) && sent === null
  const kept = () => (drafts.isKept() ? 'What you have typed is kept in this browser' : 'Keep this page open')

  /** Why it is not saved. */
  const obstacles: Record<Exclude<Obstacle, '' | 'newer'>, () => string> = {
    refused: () => `: ${aside}`,
    signed_out: () => `: you are signed out. ${kept()}: sign in in another window, and come back here.`,
    gone: () => `: this sheet is not yours to grade any more. ${kept()}.`,
    released: () => `: the result has been released. ${kept()}: reopen the result to save it.`,
  }

  function word(): string {
    if (obstacle === 'newer') return 'Not saved.'
    if (isSaved()) return fields.isEmpty() ? 'Saved as you type.' : `Saved. ${aside}`.trim()
    if (obstacle !== '') return `Not saved${obstacles[obstacle]()}`
    return isReachable ? 'Saving…' : `No connection: not saved yet. ${kept()}.`
  }

  function show(): void {
    const text = word()
    setText(line, text)
    line.classList.toggle('mistake', !isSaved() && obstacle !== '')
    if (!isSaved() && (obstacle !== '' || !isReachable)) say(`Question ${number}: ${text}`)
  }

  function keep(): void {
    if (isSaved()) drafts.clear()
    else drafts.write({ ...fields.read(), seen, sent })
  }

  function change(): void {
    if (obstacle === 'refused') obstacle = ''
    if (obstacle === '') aside = ''
    keep()
    typing.changed()
    show()
  }

  function save(): Promise<void> {
    typing.done()
    saving ??= saveAll().finally(() => {
      saving = null
      show()
    })
    return saving
  }

  async function saveAll(): Promise<void> {
    while (!isSaved() && obstacle === '') {
      sent ??= fields.read()
      keep()
      const answer = await askUntilAnswered(() => post(sent!), missed)
      isReachable = true
      if (answer) await read(answer, sent)
      keep()
    }
  }

  function missed(): boolean {
    isReachable = false
    show()
    return true
  }

  const post = (grade: Grade, keepalive = false): Promise<Response> =>
    fetch(`${form.action}/save`, {
      method: 'POST',
      body: new URLSearchParams({ ...grade, seen, ...(!keepalive && { shown: shown() }) }), // else nobody reads the answer
      redirect: 'manual', // it leads to where one signs in
      keepalive,
      signal: keepalive ? null : AbortSignal.timeout(TRY_MS),
    })

  async function read(answer: Response, grade: Grade): Promise<void> {
    if (answer.type === 'opaqueredirect') obstacle = 'signed_out'
    else if (answer.status === 404) obstacle = 'gone'
    if (obstacle !== '') return
    sent = null
    if (answer.status === 409) {
      const { points, comment, seen } = await answer.json()
      offer({ points: String(points ?? ''), comment, seen })
    } else if (answer.ok) take(await answer.json(), grade)
    else refuse(answer.status === 422 ? (await answer.json()).mistakes : ['it was not taken. Load this page again.'])
  }

  function refuse(mistakes: string[]): void {
    obstacle = 'refused'
    aside = mistakes.join(' ')
    fields.setInvalid(true)
  }

  function take(body: Saved, grade: Grade): void {
    saved = grade
    seen = body.seen
    fields.setInvalid(false)
    if (body.others.length > 0) {
      aside = `${body.others.join(', ')} graded it meanwhile, too: both grades are kept.`
      say(`Question ${number}: ${aside}`)
    }
    answered(body)
  }

  /** Shows what the grader has given elsewhere since: they decide what stays. */
  function offer(given: Newer): void {
    obstacle = 'newer'
    newer = given
    choice.replaceChildren(
      make('p', {}, 'You have graded this question in another window since: ', make('strong', {}, wordGrade(given))),
      button('Save what is typed here', () => settle(fields.read()), 'quiet'),
      ' ',
      button('Take that instead', () => settle(given), 'quiet'),
    )
    choice.hidden = false
  }

  function settle(wanted: Grade): void {
    if (!newer) return
    saved = { points: newer.points, comment: newer.comment }
    seen = newer.seen
    sent = null
    newer = null
    obstacle = ''
    choice.hidden = true
    fields.write(wanted)
    keep()
    void save()
    show()
    fields.comment.focus()
  }

  /** What an earlier page has left, unless it is there by now. */
  function restore(): void {
    const draft = drafts.read()
    if (!draft || isSame(draft, saved)) {
      drafts.clear()
      return
    }
    fields.write(draft)
    const isNewest = (form.dataset.own ?? '') <= draft.seen || (draft.sent !== null && isSame(draft.sent, saved))
    if (!isNewest) offer({ ...saved, seen })
    else if (draft.sent && !isSame(draft.sent, saved)) sent = draft.sent
  }

  form.addEventListener('input', () => {
    fields.setInvalid(false)
    change()
  })
  form.addEventListener(
    'submit',
    (event) => {
      event.preventDefault()
      event.stopPropagation()
      void save()
    },
    true,
  )
  window.addEventListener('pagehide', () => {
    if (isSaved()) return
    const isFree = sent === null && obstacle === ''
    if (isFree) sent = fields.read()
    keep()
    if (isFree) post(sent!, true).catch(() => {}) // it is in the drafts
  })
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) void save()
  })
  window.addEventListener('beforeunload', (event) => {
    if (!isSaved() && !drafts.isKept()) event.preventDefault()
  })

  if (form.hasAttribute('data-unsaved')) {
    saved = { points: '', comment: '' }
    refuse(['see what is wrong above.'])
  }
  if (isSame(fields.read(), saved)) restore()
  void save()
  show()

  return {
    /** The service has answered something else: what stood in the way may be gone. */
    tryAgain(): void {
      if (obstacle !== 'signed_out' && obstacle !== 'gone') return
      obstacle = ''
      void save()
    },
    setReleased(): void {
      obstacle = 'released'
      fields.lock()
      keep()
      show()
    },
  }
}
