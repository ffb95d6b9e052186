import { button, make } from '../../../../http/browser/dom.ts'
import { showStream } from '../devices/devices.ts'
import { PICTURE } from '../devices/monitor.ts'
import { explainFailure, obstacleToRecord } from '../session/failures.ts'
import type { Player } from '../session/player.ts'
import { makeStep, type Report, type Step, wordUnsent } from './step.ts'

/** The screen is shared once, and shown as it would be recorded; it goes on being shared until the start, but nothing of it is kept. */
export function checkScreen({ devices, state }: Player, report: Report): Step {
  const preview = make('video', { class: PICTURE, hidden: true, 'aria-label': 'Your screen, as it is shared' })
  const share = button('Share your screen', tryScreen)
  const step = makeStep(
    'Screen',
    'Your screen is recorded from Start to Finish. Choose your entire screen, and close what nobody is to see. Before you start, nothing is kept.',
    state.checks.passed.includes('screen') && devices.sharedScreen() !== null,
    preview,
    make('div', { class: 'mt-3 flex flex-wrap gap-3' }, share),
  )
  const impossible = obstacleToRecord('screen')
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
      return step.fail(error instanceof DOMException ? await explainFailure(error, 'screen') : wordUnsent(error))
    }
    preview.hidden = false
    share.hidden = true
    step.setPassed(true, 'Done. Your screen stays shared until you finish.')
  }

  function ended(): void {
    preview.hidden = true
    share.hidden = false
    step.setPassed(false, 'Sharing has ended. You are asked again when you press Start.')
  }

  return { element: step.element, close: () => {} }
}
