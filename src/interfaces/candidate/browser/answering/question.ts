import { make, setNotice, wait } from '../../../../http/browser/dom.ts'
import type { PageControl, Player } from '../session/player.ts'
import type { TakeKind } from '../session/session.ts'
import { countDown } from './countdown.ts'
import { offerPrompt } from './prompt.ts'
import { offerRecording } from './recorded-answer.ts'
import { saveText } from './text-answer.ts'

const ASK_AGAIN_MS = 1_000

/** An open question: its prompt plays, its answer is saved while it is given, and its time is counted down. */
export function answerQuestion(player: Player, section: HTMLElement): PageControl {
  const { session, status, devices } = player
  const number = Number(section.dataset.number)
  const kinds = (section.dataset.kinds ?? '').split(' ')
  const recordable = kinds.filter((kind): kind is TakeKind => kind === 'audio' || kind === 'video')
  const area = section.querySelector<HTMLTextAreaElement>('[data-answer]')
  const prompt = section.querySelector<HTMLElement>('[data-prompt]')
  const clock = section.querySelector<HTMLElement>('[data-clock]')
  const recorderPlace = section.querySelector<HTMLElement>('[data-recorder]')
  const progress = make('p', { class: 'hint', role: 'status', hidden: true })
  section.querySelector('form:last-of-type')!.append(progress)

  const savedLine = make('p', { class: 'hint' })
  area?.after(savedLine)
  const text = area && saveText(player, number, area, savedLine)
  section.querySelector('button[value=save]')?.remove() // it is saved by itself
  const recording = recorderPlace && recordable.length > 0 ? offerRecording(player, number, recordable, recorderPlace) : null
  if (area && recording)
    recorderPlace!.before(make('p', { class: 'hint' }, 'Write your answer, or record it. What you save last is what counts.'))
  area?.addEventListener('change', async () => {
    await text?.save()
    await recording?.refresh()
  })
  const stopPrompt = prompt ? offerPrompt(player, number, prompt) : () => {}

  let isClosed = false
  let stopClock = () => {}
  if (clock && player.state.question?.closesAt) startClock(clock)

  function startClock(element: HTMLElement): void {
    element.setAttribute('role', 'timer')
    const label = element.dataset.clock === 'whole' ? 'Time left for the whole assessment' : 'Time left'
    stopClock = countDown(element, label, () => session.momentOf(player.state.question!.closesAt!), {
      say: status.say,
      soon: () => void text?.save(),
      over: () => void endByClock(element),
    })
  }

  /** The service's clock decides: this page has only counted along. */
  async function endByClock(element: HTMLElement): Promise<void> {
    setNotice(progress, 'The time for this question is over. Your answer is being saved.')
    text?.setOpen(false)
    await Promise.all([text?.save(), recording?.end()])
    while (!isClosed) {
      const question = await session.read().then(
        (state) => state.question,
        () => null, // the page says why
      )
      if (question?.number !== number) return player.refresh()
      if (session.momentOf(question.closesAt!) - performance.now() > ASK_AGAIN_MS) {
        setNotice(progress, '')
        text?.setOpen(true)
        return startClock(element)
      }
      await wait(ASK_AGAIN_MS)
    }
  }

  return {
    async beforeSending(form) {
      setNotice(progress, 'Saving your answer…')
      await Promise.all([text?.save(), recording?.finish()])
      if (isClosed) return false
      const failure = text?.failure() || recording?.failure() || ''
      if (text && !text.isSaved() && failure === '') {
        setNotice(progress, 'Your answer is not saved yet.')
        return false
      }
      if (failure && !progress.dataset.told) {
        progress.dataset.told = failure
        setNotice(progress, `${failure} Press again to go on all the same.`)
        return false
      }
      setNotice(progress, '')
      goOnWithoutText(form)
      return true
    },
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

/** The text is saved already; sent once more it would be the last answer, also where a recording was the last. */
function goOnWithoutText(form: HTMLFormElement): void {
  form.action = form.action.replace(/answer$/, 'next')
  for (const field of form.querySelectorAll('textarea')) field.removeAttribute('name')
}
