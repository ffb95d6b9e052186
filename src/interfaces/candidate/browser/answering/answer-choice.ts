import { make, setNotice } from '../../../../http/browser/dom.ts'
import { wordTime } from '../../../../http/browser/word-time.ts'
import type { BrowserTexts } from '../../../../locales/texts.ts'
import { measureAgo } from '../session/ago.ts'
import type { Player } from '../session/player.ts'
import type { PossibleAnswer } from '../session/session.ts'

const CHOOSE_WITHIN_MS = 20_000
const LOOK_AGAIN_MS = 3_000
const LOOKS = 20

/** Where there is more than one, shows what could be the answer to a question, and lets the candidate choose until it closes. */
export function offerChoice({ t, session, outbox, state }: Player, number: number) {
  const line = make('p', { class: 'hint', role: 'status', hidden: true })
  const options = make('div')
  const legend = make('legend', {}, t.text('choice.heading'))
  const hint = make('p', { class: 'hint' }, t.text('choice.text'))
  const element = make('fieldset', { class: 'panel mt-4', hidden: true }, legend, options, hint, line)
  let answers = state.question?.answers ?? []
  let shown = ''
  let choosing: Promise<void> = Promise.resolve()
  let choices = 0
  let looks = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function show(): void {
    element.hidden = answers.length < 2
    const labels = wordAnswers(t, answers, recordedHere)
    const next = JSON.stringify([answers.map(({ id, counts }) => [id, counts]), labels])
    if (next === shown) return
    shown = next
    const focused = (document.activeElement as HTMLInputElement | null)?.value
    const isFocused = options.contains(document.activeElement)
    options.replaceChildren(...answers.map((answer, i) => option(answer, labels[i]!)))
    if (isFocused) options.querySelector<HTMLElement>(`[value="${focused}"]`)?.focus()
  }

  function option({ id, counts }: PossibleAnswer, label: string): HTMLElement {
    const radio = make('input', { type: 'radio', class: 'radio radio-sm', name: `answer-${number}`, value: id, checked: counts })
    radio.addEventListener('change', () => {
      choosing = choose(id, label)
    })
    return make('label', { class: 'flex items-center gap-2 py-1' }, radio, ` ${label}`)
  }

  /** How long it is where the service does not know it yet; 0 where this page has not recorded it. */
  const recordedHere = (mediaId: string | null): number => outbox.list().find((one) => one.mediaId === mediaId)?.recorded ?? 0

  async function choose(id: string, label: string): Promise<void> {
    const choice = ++choices
    answers = answers.map((answer) => ({ ...answer, counts: answer.id === id }))
    show()
    setNotice(line, t.text('choice.saving'))
    const json = { take: id, ago: measureAgo(performance.now()) }
    const isSaved = await session.post(`/questions/${number}/choice`, json, performance.now() + CHOOSE_WITHIN_MS).then(
      () => true,
      () => false,
    )
    if (choice !== choices) return
    setNotice(line, isSaved ? t.text('choice.saved', { answer: label }) : t.text('choice.failed'))
    if (!isSaved) await refresh()
  }

  /** Reads what there is by now. */
  async function refresh(): Promise<void> {
    const before = choices
    const question = await session.read().then(
      (read) => read.question,
      () => null, // what is shown stays
    )
    if (question?.number !== number || choices !== before) return
    answers = question.answers ?? []
    show()
    const isUnknown = ({ kind, mediaId, milliseconds }: PossibleAnswer) =>
      kind !== 'text' && milliseconds === null && recordedHere(mediaId) === 0
    clearTimeout(timer)
    if (answers.length > 1 && answers.some(isUnknown) && looks++ < LOOKS) timer = setTimeout(refresh, LOOK_AGAIN_MS)
  }

  show()
  if (answers.length > 1) void refresh()

  return {
    element,
    refresh,
    /** What could be the answer. */
    list: () => answers,
    /** @returns when what was chosen last is saved, or can't be. */
    settled: () => choosing,
    close: () => clearTimeout(timer),
  }
}

function wordAnswers(t: BrowserTexts, answers: PossibleAnswer[], recordedHere: (mediaId: string | null) => number): string[] {
  let recordings = 0
  return answers.map(({ kind, mediaId, milliseconds, wasInterrupted }) => {
    if (kind === 'text') return t.text('choice.written')
    const length = milliseconds ?? recordedHere(mediaId)
    const number = ++recordings
    const recording = length
      ? t.text('choice.recording.length', { number, kind, length: wordTime(length) })
      : t.text('choice.recording', { number, kind })
    return wasInterrupted ? t.text('choice.was_interrupted', { recording }) : recording
  })
}
