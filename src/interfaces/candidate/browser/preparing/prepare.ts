import { createElement, setNotice } from '../../../../http/browser/dom.ts'
import { type CheckTexts, createTexts, type Messages } from '../../../../locales/texts.ts'
import { explainFailure, obstacle } from '../session/failures.ts'
import type { PageControl, Player } from '../session/player.ts'
import { checkCameraAndMicrophone } from './check-camera.ts'
import { checkScreen } from './check-screen.ts'
import { measureSpeed } from './check-speed.ts'
import { offerPhoto } from './photos.ts'
import type { Preparation, Report, Step } from './step.ts'

const PHOTOS = [
  ['id_photo', 'idPhoto'],
  ['face_photo', 'facePhoto'],
] as const

/** Page before the start, with device checks and photos, which can be repeated. @param messages texts, including the checks'. */
export const prepareIn =
  (messages: Messages) =>
  (player: Player, section: HTMLElement): PageControl =>
    prepare(player, section, createTexts(player.t.language, messages))

function prepare(page: Player, section: HTMLElement, t: CheckTexts): PageControl {
  const player: Preparation = { ...page, t, changed: showNext }
  const { session, devices, state } = player
  const { needs, checks, photos } = state
  const isAsked = (need: string) => !checks.waived.includes(need)
  const report: Report = async (passed) => {
    await session.post('/checks', { passed })
    for (const check of passed) meet(check)
  }

  const steps: Step[] = []

  function meet(requirement: string): void {
    section.querySelector(`[data-requirement="${requirement}"]`)?.remove()
    const list = section.querySelector('[data-missing]')
    if (list?.children.length !== 0) return
    list.closest('.notice')!.remove()
    setNotice(mistake, '')
    setNotice(ready, t.text('prepare.ready'))
    setStart(true)
  }

  /** Disables Start while requirements are missing. The page lists them above the button. */
  function setStart(isOpen: boolean): void {
    if (!start) return
    start.classList.toggle('closed', !isOpen)
    start.ariaDisabled = isOpen ? null : 'true'
    if (isOpen) start.removeAttribute('aria-describedby')
    else start.setAttribute('aria-describedby', 'missing')
  }

  /** Opens the next step, and steps that still need a look; folds finished ones. */
  function showNext(changedStep?: HTMLElement, stays = false): void {
    const next = steps.find((step) => !step.isPassed())
    const before = document.activeElement
    for (const [i, step] of steps.entries())
      step.show(step === next || step.hasMistake() || (stays && step.element === changedStep), i + 1)
    // The focused element may be folded now.
    if (before !== document.body && before?.closest('.step.passed details:not([open])')) focusOn(next)
  }

  const focusOn = (step: Step | undefined) =>
    (step ? step.element.querySelector<HTMLElement>('summary') : start)?.focus({ preventScroll: true })

  const start = section.querySelector<HTMLButtonElement>('form button[type=submit]')
  const wanted = { audio: needs.microphone && isAsked('microphone'), video: needs.camera && isAsked('camera') }
  if (wanted.audio || wanted.video) steps.push(checkCameraAndMicrophone(player, wanted, report))
  const wantsScreen = needs.screen && isAsked('screen')
  if (wantsScreen) steps.push(checkScreen(player, report))
  for (const [kind, need] of PHOTOS)
    if (needs[need] && isAsked(kind)) steps.push(offerPhoto(player, kind, photos[kind], () => meet(kind)))
  if (steps.length > 0) steps.push(measureSpeed(player))
  section.querySelector('[data-steps]')!.replaceChildren(...steps.map(({ element }) => element))
  showNext()

  const mistake = createElement('p', { class: 'mistake', role: 'alert', hidden: true })
  const ready = createElement('p', { class: 'text-success mt-4 font-medium', role: 'status', hidden: true })
  section.querySelector('form')?.prepend(ready)
  section.querySelector('form')?.append(mistake)
  setStart(section.querySelector('[data-missing]') === null)

  /** Shares the screen again if needed: sharing ends when the page is reloaded. */
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
