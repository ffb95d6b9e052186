import { createButton, createElement } from '../../../../http/browser/dom.ts'
import { showStream } from '../devices/devices.ts'
import { PICTURE } from '../devices/monitor.ts'
import { explainFailure, obstacleToRecord } from '../session/failures.ts'
import { createStep, formatSendFailure, type Preparation, type Report, type Step } from './step.ts'

/** Shares the screen and shows a preview. Sharing continues until the start, and nothing is recorded. */
export function checkScreen(preparing: Preparation, report: Report): Step {
  const { t, devices, state } = preparing
  const preview = createElement('video', { class: PICTURE, hidden: true, 'aria-label': t.text('screen.preview') })
  const share = createButton(t.text('screen.share'), tryScreen)
  const step = createStep(
    preparing,
    {
      name: 'screen',
      title: t.text('screen.title'),
      text: t.text('screen.text'),
      isPassed: state.checks.passed.includes('screen') && devices.sharedScreen() !== null,
    },
    preview,
    createElement('div', { class: 'mt-3 flex flex-wrap gap-3' }, share),
  )
  const impossible = obstacleToRecord(t, 'screen')
  if (impossible) step.fail(impossible)

  async function tryScreen(): Promise<void> {
    step.fail(impossible)
    if (impossible) return
    try {
      const stream = await devices.shareScreen()
      await showStream(preview, stream)
      stream.getVideoTracks()[0]!.onended = ended
      await report(['screen'])
    } catch (error) {
      return step.fail(error instanceof DOMException ? await explainFailure(t, error, 'screen') : formatSendFailure(t, error))
    }
    preview.hidden = false
    share.hidden = true
    step.setPassed(true, t.text('screen.done'))
  }

  function ended(): void {
    preview.hidden = true
    share.hidden = false
    step.setPassed(false, t.text('screen.ended'))
  }

  return { ...step.step, close: () => {} }
}
