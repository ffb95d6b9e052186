import { make, setNotice, wait } from '../../../../http/browser/dom.ts'
import type { PageControl, Player } from '../session/player.ts'
import type { AnswerAttemptKind } from '../session/session.ts'
import { countDown } from './countdown.ts'
import { takeLaterEnds } from './later-ends.ts'
import { mirrorFields } from './mirror-fields.ts'
import { offerPrompt } from './prompt.ts'
import { sayReading } from './read-as.ts'
import { offerRecording } from './recorded-answer.ts'
import { saveText } from './text-answer.ts'

const ASK_AGAIN_MS = 1_000

/** An open question: its prompt plays, its answer is saved while it is given, and its time is counted down. */
export function answerQuestion(player: Player, section: HTMLElement): PageControl {
  const { t, session, devices } = player
  const number = Number(section.dataset.number)
  const kinds = (section.dataset.kinds ?? '').split(' ')
  const recordable = kinds.filter((kind): kind is AnswerAttemptKind => kind === 'audio' || kind === 'video')
  const fields = section.querySelector<HTMLFieldSetElement>('[data-fields]')
  const mirror = fields && mirrorFields(fields)
  const area = mirror?.area ?? section.querySelector<HTMLTextAreaElement>('[data-answer]')
  const prompt = section.querySelector<HTMLElement>('[data-prompt]')
  const clock = document.querySelector<HTMLElement>('[data-clock]')
  const recorderPlace = section.querySelector<HTMLElement>('[data-recorder]')
  const progress = make('p', { class: 'hint', role: 'status', hidden: true })
  section.querySelector('[data-foot]')!.before(progress)

  const text = area && saveText(player, number, area)
  const read = fields ? sayReading(t, fields) : () => {}
  mirror?.fill()
  read()
  const setOpen = (is: boolean) => {
    text?.setOpen(is)
    mirror?.setOpen(is)
  }
  section.querySelector('button[value=save]')?.remove() // it is saved by itself
  const recording = recorderPlace && recordable.length > 0 ? offerRecording(player, number, recordable, recorderPlace) : null
  if (area && recording) recorderPlace!.before(make('p', { class: 'hint' }, t.text('answer.choose')))
  area?.addEventListener('change', async () => {
    await text?.save()
    await recording?.refresh()
  })
  const stopPrompt = prompt ? offerPrompt(player, number, prompt) : () => {}

  let isClosed = false
  let stopClock = () => {}
  if (clock && player.state.question?.closesAt) startClock(clock)

  function startClock(element: HTMLElement): void {
    stopClock = countQuestion(player, element, { soon: () => void text?.save(), over: () => void endByClock(element) })
  }

  /** The service's clock decides: this page has only counted along. */
  async function endByClock(element: HTMLElement): Promise<void> {
    setNotice(progress, t.text('answer.over'))
    setOpen(false)
    await Promise.all([text?.save(), recording?.end()])
    while (!isClosed) {
      const read = await session.read().catch(() => null)
      const question = read?.question // else the page says why
      if (question?.number !== number) return player.refresh()
      if (session.momentOf(question.closesAt!) - performance.now() > ASK_AGAIN_MS) {
        takeLaterEnds(player, read!)
        setNotice(progress, '')
        setOpen(true)
        return startClock(element)
      }
      await wait(ASK_AGAIN_MS)
    }
  }

  /** Why the candidate can't go on, in sentences: what failed for good only once. */
  function wordObstacle(): string {
    const failure = text?.failure() || recording?.failure() || ''
    if (text && !text.isSaved() && failure === '') return t.text('answer.unsaved')
    if (failure === '' || progress.dataset.told) return ''
    progress.dataset.told = failure
    return t.text('answer.press_again', { failure })
  }

  async function save(): Promise<boolean> {
    setNotice(progress, t.text('answer.saving'))
    await Promise.all([text?.save(), recording?.finish()])
    if (isClosed) return false
    const obstacle = wordObstacle()
    setNotice(progress, obstacle)
    return obstacle === ''
  }

  return {
    beforeSending: async (form) => (await save()) && goOnWithoutText(form),
    beforeReload: save,
    isRecording: () => recording?.isBusy() ?? false,
    hasUnsaved: () => (text ? !text.isSaved() : false) || (recording?.isBusy() ?? false),
    connectionChanged: () => text?.show(),
    close() {
      isClosed = true
      stopClock()
      stopPrompt()
      text?.close()
      recording?.close()
      devices.close({ audio: true, video: !document.querySelector('[data-capture~=webcam]') })
    },
  }
}

/** @returns what ends it. */
function countQuestion(player: Player, element: HTMLElement, on: { soon: () => void; over: () => void }): () => void {
  const { t, session, status } = player
  element.setAttribute('role', 'timer')
  const label = element.dataset.clock === 'whole' ? 'clock.whole' : 'clock.question'
  return countDown(t, element, label, () => session.momentOf(player.state.question!.closesAt!), { say: status.say, ...on })
}

/** The text is saved already; sent once more it would be the last answer, also where a recording was the last. */
function goOnWithoutText(form: HTMLFormElement): true {
  form.action = form.action.replace(/answer$/, 'next')
  for (const field of form.querySelectorAll('textarea, [name=answer]')) field.removeAttribute('name')
  return true
}
