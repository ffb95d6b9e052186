import { createButton, createElement, setNotice, sleep } from '../../../../http/browser/dom.ts'
import type { BrowserTexts } from '../../../../locales/texts.ts'
import type { PageControl, Player } from '../session/player.ts'
import type { Recording } from '../session/recording.ts'
import type { AnswerAttemptKind } from '../session/session.ts'
import type { offerFiles } from './answer-files.ts'
import { createLeaveGuard, findUnfinished } from './ask-before-leaving.ts'
import { countDown } from './countdown.ts'
import { applyLaterEnds } from './later-ends.ts'
import { mirrorFields } from './mirror-fields.ts'
import { showReading } from './read-as.ts'
import { offerRecording } from './recorded-answer.ts'
import { describeEndedRecording } from './recorded-words.ts'
import type { Simultaneous } from './simultaneous.ts'
import { saveText } from './text-answer.ts'
import { showTimeUp } from './time-up.ts'

const ASK_AGAIN_MS = 1_000

/** Answering an open question: saves the answer as it is given, and counts down the time. */
export function answerQuestion(player: Player, section: HTMLElement): PageControl {
  const { t, session, devices } = player
  const number = Number(section.dataset.number)
  const fields = section.querySelector<HTMLFieldSetElement>('[data-fields]')
  const mirror = fields && mirrorFields(fields)
  const area: HTMLTextAreaElement | null = mirror?.area ?? section.querySelector('[data-answer]')
  const clock = document.querySelector<HTMLElement>('[data-clock]')
  const progress = createElement('p', { class: 'hint', role: 'status', hidden: true })
  section.querySelector('[data-foot]')!.before(progress)

  const text = area && saveText(player, number, area)
  const read = fields ? showReading(t, fields) : () => {}
  mirror?.fill()
  read()
  // If the script can't be loaded, the places can still be chosen in the selects.
  if (fields?.dataset.fields) import('./sort-items.ts').then((part) => part.sortItems(fields)).catch(() => {})
  const setOpen = (isOpen: boolean) => {
    text?.setOpen(isOpen)
    mirror?.setOpen(isOpen)
    leaving.setAsked(isOpen)
  }
  section.querySelector('button[value=save]')?.remove() // the script saves automatically
  let recording: RecordedAnswer | null = section.querySelector(SIMULTANEOUS) ? null : offerRecorder(player, section, area)
  void loadExtras(player, section, area).then((open) => {
    if (open && !isClosed) recording = open()
  })
  area?.addEventListener('change', () => void text?.save().then(() => recording?.refresh()))

  const leaving = createLeaveGuard(t, section, number, () => findUnfinished(section, area, recording))

  let isClosed = false
  let stopClock = () => {}
  if (clock && player.state.question?.closesAt) startClock(clock)

  function startClock(element: HTMLElement): void {
    stopClock = countQuestion(player, element, { soon: () => void text?.save(), over: () => void endByClock(element) })
  }

  /** Saves the answer, and waits until the service's clock ends the question, too. */
  async function endByClock(element: HTMLElement): Promise<void> {
    setNotice(progress, t.text('answer.over'))
    setOpen(false)
    const [cutRecording] = await Promise.all([recording?.endByClock() ?? null, text?.save()])
    while (!isClosed) {
      const read = await session.read().catch(() => null)
      const question = read?.question
      if (read?.state !== 'in_progress') return player.refresh()
      if (question?.number !== number) return continueAfterTime(cutRecording)
      if (session.momentOf(question.closesAt!) - performance.now() > ASK_AGAIN_MS) {
        applyLaterEnds(player, read!)
        setNotice(progress, '')
        setOpen(true)
        return startClock(element)
      }
      await sleep(ASK_AGAIN_MS)
    }
  }

  async function continueAfterTime(cutRecording: Recording | null): Promise<void> {
    const counts = recording?.describeStatus() ?? ''
    await showTimeUp(t, section, { formatSaved: () => formatSaved(t, cutRecording, area, text), counts, isLeft: () => isClosed })
    if (!isClosed) await player.refresh()
  }

  /** @param saveRecording saves the recording, if any. */
  async function save(saveRecording: () => Promise<void> | undefined): Promise<boolean> {
    setNotice(progress, t.text('answer.saving'))
    await Promise.all([text?.save(), saveRecording()])
    if (isClosed) return false
    const obstacle = formatObstacle(t, progress, text, recording)
    setNotice(progress, obstacle)
    return obstacle === ''
  }

  return {
    beforeSending: async (form) => (await leaving.mayLeave()) && (await save(() => recording?.finish())) && omitText(form),
    // An interrupted recording can still be continued after the reload.
    beforeReload: () => save(() => recording?.waitForUploads()),
    isRecording: () => recording?.isBusy() ?? false,
    hasUnsaved: () => (text ? !text.isSaved() : false) || (recording?.isBusy() ?? false),
    connectionChanged: () => text?.show(),
    close() {
      isClosed = true
      leaving.setAsked(false)
      stopClock()
      text?.close()
      recording?.close()
      devices.close({ audio: true, video: !document.querySelector('[data-capture~=webcam]') })
    },
  }
}

const SIMULTANEOUS = '[data-simultaneous]'
const FILES = '[data-files]'

/** A recorded answer, or files. */
type RecordedAnswer = ReturnType<typeof offerRecording> | ReturnType<typeof offerFiles>

/**
 * Loads the scripts that only some questions need: for files, or to play the prompt during the recording.
 *
 * @returns a function that starts them; null if none is needed, or if loading failed: the page then offers to reload.
 */
async function loadExtras(
  player: Player,
  section: HTMLElement,
  area: HTMLTextAreaElement | null,
): Promise<(() => RecordedAnswer | null) | null> {
  const panel = section.querySelector<HTMLElement>(SIMULTANEOUS)
  const place = section.querySelector<HTMLElement>(FILES)
  const number = Number(section.dataset.number)
  try {
    if (place) {
      const { offerFiles } = await import('./answer-files.ts')
      return () => offerFiles(player, number, place)
    }
    if (!panel) return null
    const { openSimultaneous } = await import('./simultaneous.ts')
    return () => offerRecorder(player, section, area, openSimultaneous(player, number, panel))
  } catch {
    const reloadButton = createButton(player.t.text('missing.here'), () => location.reload())
    const text = createElement('p', { class: 'mistake', role: 'alert' }, player.t.text('missing.text'))
    ;(panel ?? place)!.before(text, reloadButton)
    return null
  }
}

type Saved = { failure: () => string; isSaved: () => boolean }

/** Message about unsaved input; empty if the candidate can go on. A final failure is reported only once. */
function formatObstacle(
  t: BrowserTexts,
  progress: HTMLElement,
  text: Saved | null,
  recording: Pick<Saved, 'failure'> | null,
): string {
  const failure = text?.failure() || recording?.failure() || ''
  if (text && !text.isSaved() && failure === '') return t.text('answer.unsaved')
  if (failure === '' || progress.dataset.told) return ''
  progress.dataset.told = failure
  return t.text('answer.press_again', { failure })
}

function offerRecorder(player: Player, section: HTMLElement, area: HTMLTextAreaElement | null, simultaneous?: Simultaneous) {
  const place = section.querySelector<HTMLElement>('[data-recorder]')
  const kinds = (section.dataset.kinds ?? '').split(' ')
  const recordable = kinds.filter((kind): kind is AnswerAttemptKind => kind === 'audio' || kind === 'video')
  if (!place || recordable.length === 0) return null
  const recording = offerRecording(player, Number(section.dataset.number), recordable, place, simultaneous)
  if (area) place.before(createElement('p', { class: 'hint mt-3' }, player.t.text('answer.choose')))
  return recording
}

/** Describes the answer when the time is over. @param cutRecording the recording that the clock ended. */
function formatSaved(
  t: BrowserTexts,
  cutRecording: Recording | null,
  area: HTMLTextAreaElement | null,
  text: Saved | null,
): string {
  if (cutRecording) return describeEndedRecording(t, cutRecording)
  const failure = text?.failure() ?? ''
  if (failure || !text?.isSaved()) return failure
  return area?.value.trim() ? t.text('over.text') : ''
}

/** @returns a function that stops the countdown. */
function countQuestion(player: Player, element: HTMLElement, events: { soon: () => void; over: () => void }): () => void {
  const { t, session, status } = player
  element.setAttribute('role', 'timer')
  const label =
    ({ whole: 'clock.whole', section: 'clock.section' } as const)[element.dataset.clock as 'whole'] ?? 'clock.question'
  return countDown(t, element, label, () => session.momentOf(player.state.question!.closesAt!), { say: status.say, ...events })
}

/** Sends the form without its text, which is saved already: sent again, it would replace a newer recording as the answer. */
function omitText(form: HTMLFormElement): true {
  form.action = form.action.replace(/answer$/, 'next')
  for (const field of form.querySelectorAll('textarea, [name=answer]')) field.removeAttribute('name')
  return true
}
