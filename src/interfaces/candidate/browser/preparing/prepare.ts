import { messages } from '../../../../generated/locales/browser.ts'
import { messages as ofChecks } from '../../../../generated/locales/checks.ts'
import { make, setNotice } from '../../../../http/browser/dom.ts'
import { type CheckTexts, createTexts } from '../../../../locales/texts.ts'
import { explainFailure, obstacle } from '../session/failures.ts'
import type { PageControl, Player } from '../session/player.ts'
import { checkCameraAndMicrophone } from './check-camera.ts'
import { checkScreen } from './check-screen.ts'
import { measureSpeed } from './check-speed.ts'
import { offerPhoto } from './photos.ts'
import type { Preparing, Report, Step } from './step.ts'

const PHOTOS = [
  ['id_photo', 'idPhoto'],
  ['face_photo', 'facePhoto'],
] as const

/** The page before the start: devices are tried, photos taken, as often as the candidate likes. */
export function prepare(given: Player, section: HTMLElement): PageControl {
  const t: CheckTexts = createTexts(given.t.language, { ...messages, ...ofChecks })
  const player: Preparing = { ...given, t }
  const { session, devices, state } = player
  const { needs, checks, photos } = state
  const isAsked = (need: string) => !checks.waived.includes(need)
  const report: Report = async (passed) => {
    await session.post('/checks', { passed })
    for (const check of passed) meet(check)
  }

  function meet(requirement: string): void {
    section.querySelector(`[data-requirement="${requirement}"]`)?.remove()
    const list = section.querySelector('[data-missing]')
    if (list?.children.length !== 0) return
    list.closest('.notice')!.remove()
    setNotice(mistake, '')
  }

  const steps: Step[] = []
  const wanted = { audio: needs.microphone && isAsked('microphone'), video: needs.camera && isAsked('camera') }
  if (wanted.audio || wanted.video) steps.push(checkCameraAndMicrophone(player, wanted, report))
  const wantsScreen = needs.screen && isAsked('screen')
  if (wantsScreen) steps.push(checkScreen(player, report))
  for (const [kind, need] of PHOTOS)
    if (needs[need] && isAsked(kind)) steps.push(offerPhoto(player, kind, photos[kind], () => meet(kind)))
  if (steps.length > 0) steps.push(measureSpeed(player))
  section.querySelector('[data-steps]')!.replaceChildren(...steps.map(({ element }) => element))

  const mistake = make('p', { class: 'mistake', role: 'alert', hidden: true })
  section.querySelector('form')?.append(mistake)

  /** The screen that was shared for the check goes on being shared; after a reload it has to be shared anew. */
  async function shareAgain(): Promise<boolean> {
    if (!wantsScreen || devices.sharedScreen()) return true
    try {
      await devices.shareScreen()
      return true
    } catch (error) {
      setNotice(mistake, obstacle(t, 'screen') || (await explainFailure(t, error, 'screen')))
      return false
    }
  }

  return {
    async beforeSending(form) {
      if (!form.action.endsWith('/start')) return true
      setNotice(mistake, '')
      if (section.querySelector('[data-missing]')) {
        setNotice(mistake, t.text('prepare.missing'))
        section.querySelector<HTMLElement>('.step:not(.passed) button')?.focus()
        return false
      }
      return shareAgain()
    },
    close() {
      for (const step of steps) step.close()
      devices.close()
    },
  }
}
