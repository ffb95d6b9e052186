import { createElement, setNotice, setText } from '../../../../http/browser/dom.ts'
import { formatClock } from '../../../../http/browser/format-clock.ts'
import type { BrowserTexts } from '../../../../locales/texts.ts'
import { PICTURE } from '../devices/monitor.ts'
import { measureAgo } from '../session/ago.ts'
import type { Player } from '../session/player.ts'
import type { PossibleAnswer } from '../session/session.ts'

const CHOOSE_WITHIN_MS = 20_000
const LOOK_AGAIN_MS = 3_000
const LOOKS = 40

type Row = { element: HTMLElement; radio: HTMLInputElement; name: HTMLElement; player: HTMLVideoElement | null }

/**
 * Lists the attempts that may be the answer, each with its length and a player, and lets the candidate choose until the question closes.
 * The newest attempt of this page has a player elsewhere.
 *
 * @param onShown called when the list changes.
 */
export function offerChoice({ t, session, outbox, state }: Player, number: number, onShown: () => void) {
  const line = createElement('p', { class: 'hint', role: 'status', hidden: true })
  const options = createElement('div', { class: 'space-y-4' })
  const legend = createElement('legend', {})
  const hint = createElement('p', { class: 'hint' }, t.text('choice.text'))
  const element = createElement('fieldset', { class: 'panel mt-4', hidden: true }, legend, options, hint, line)
  const rows = createRows(session, options, (id, label) => {
    choosing = choose(id, label)
  })
  let answers = state.question?.answers ?? []
  let choosing: Promise<void> = Promise.resolve()
  let choices = 0
  let looks = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function show(): void {
    const [first] = answers
    const isOne = answers.length === 1
    element.hidden = !first || (isOne && (first.kind === 'text' || rows.isKept(first.mediaId)))
    setText(legend, t.text(isOne ? 'choice.heading.one' : 'choice.heading'))
    hint.hidden = isOne
    rows.show(answers, formatAnswers(t, answers, recordedHere))
    onShown()
  }

  /** Milliseconds recorded by this page, used until the service knows the length; 0 if another page recorded it. */
  const recordedHere = (mediaId: string | null): number =>
    outbox.list().find((recording) => recording.mediaId === mediaId)?.recorded ?? 0

  async function choose(id: string, label: string): Promise<void> {
    const choice = ++choices
    answers = answers.map((answer) => ({ ...answer, counts: answer.id === id }))
    show()
    setNotice(line, t.text('choice.saving'))
    const json = { attempt: id, ago: measureAgo(performance.now()) }
    const isSaved = await session.post(`/questions/${number}/choice`, json, performance.now() + CHOOSE_WITHIN_MS).then(
      () => true,
      () => false,
    )
    if (choice !== choices) return
    setNotice(line, isSaved ? t.text('choice.saved', { answer: label }) : t.text('choice.failed'))
    if (!isSaved) await refresh()
  }

  async function refresh(): Promise<void> {
    const before = choices
    const question = await session.read().then(
      (read) => read.question,
      () => null, // keeps the shown list
    )
    if (question?.number !== number || choices !== before) return
    answers = question.answers ?? []
    show()
    const isComing = ({ kind, mediaId, isReady }: PossibleAnswer) => kind !== 'text' && !isReady && !rows.isKept(mediaId)
    clearTimeout(timer)
    if (answers.some(isComing) && looks++ < LOOKS) timer = setTimeout(refresh, LOOK_AGAIN_MS)
  }

  if (answers.length > 0) void refresh()

  return {
    element,
    show,
    refresh,
    isShown: () => !element.hidden,
    hasAnswers: () => answers.length > 0,
    /** Plays an attempt from this page's own recording. @param recorded a file for each part. */
    keep(mediaId: string, recorded: Blob[]): void {
      looks = 0
      rows.keep(mediaId, recorded)
    },
    /** Names the attempt that counts, for when the clock ends another one; empty if none counts. */
    describeStatus(): string {
      const counting = answers.findIndex(({ counts, restarted }) => counts && !restarted)
      return counting === -1 ? '' : formatAnswers(t, answers, recordedHere)[counting]!
    },
    /** Resolves when the latest choice is saved, or has failed. */
    waitForChoice: () => choosing,
    close(): void {
      clearTimeout(timer)
      rows.close()
    },
  }
}

/** A row for each attempt. They change in place: a player may be playing, and a choice may have the focus. */
function createRows(session: Player['session'], options: HTMLElement, choose: (id: string, label: string) => void) {
  const rows = new Map<string, Row>()
  /** Recordings of this page, a file for each part. */
  const files = new Map<string | null, Blob[]>()

  function rowOf({ id }: PossibleAnswer): Row {
    const existingRow = rows.get(id)
    if (existingRow) return existingRow
    const radio = createElement('input', { type: 'radio', class: 'radio radio-sm', name: 'attempt', value: id })
    const name = createElement('span', {})
    radio.addEventListener('change', () => choose(id, name.textContent!))
    const label = createElement('label', { class: 'flex items-center gap-2 py-1' }, radio, name)
    const row: Row = { element: createElement('div', {}, label), radio, name, player: null }
    rows.set(id, row)
    options.append(row.element)
    return row
  }

  function playerOf({ kind, mediaId, isReady }: PossibleAnswer, label: string): HTMLVideoElement | null {
    if (kind === 'text') return null
    const [file, ...more] = files.get(mediaId) ?? []
    if (file && more.length === 0) return createPlayer(kind, URL.createObjectURL(file), label)
    return isReady ? createPlayer(kind, `${session.base}/media/${mediaId}`, label) : null
  }

  return {
    show(answers: PossibleAnswer[], labels: string[]): void {
      for (const [i, answer] of answers.entries()) {
        const row = rowOf(answer)
        row.radio.checked = answer.counts
        row.radio.hidden = answers.length === 1
        setText(row.name, labels[i]!)
        row.player ??= playerOf(answer, labels[i]!)
        if (row.player && !row.player.isConnected) row.element.append(row.player)
        row.player?.setAttribute('aria-label', labels[i]!)
      }
      for (const [id, { element }] of rows) element.hidden = !answers.some((answer) => answer.id === id)
    },
    /** Plays an attempt from this page's own recording. @param recorded a file for each part. */
    keep: (mediaId: string, recorded: Blob[]) => void (recorded.length > 0 && files.set(mediaId, recorded)),
    isKept: (mediaId: string | null) => files.has(mediaId),
    close(): void {
      for (const { player } of rows.values()) if (player?.src.startsWith('blob:')) URL.revokeObjectURL(player.src)
    },
  }
}

/** A video element plays sound as well. @param name accessible name. */
export const createPlayer = (kind: 'audio' | 'video', src: string, name: string): HTMLVideoElement =>
  createElement('video', {
    class: kind === 'audio' ? 'h-14 w-80 max-w-full' : PICTURE,
    controls: true,
    playsinline: true,
    preload: 'metadata',
    src,
    'aria-label': name,
  })

function formatAnswers(t: BrowserTexts, answers: PossibleAnswer[], recordedHere: (mediaId: string | null) => number): string[] {
  let recordings = 0
  return answers.map(({ kind, mediaId, milliseconds, wasInterrupted, restarted }) => {
    if (kind === 'text') return t.text('choice.written')
    const length = milliseconds ?? recordedHere(mediaId)
    const number = ++recordings
    const recording = length
      ? t.text('choice.recording.length', { number, kind, length: formatClock(length) })
      : t.text('choice.recording', { number, kind })
    if (restarted) return t.text('choice.restarted', { recording })
    return wasInterrupted ? t.text('choice.cut_off', { recording }) : recording
  })
}
