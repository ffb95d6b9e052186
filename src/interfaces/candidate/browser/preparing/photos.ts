import { createButton, createElement } from '../../../../http/browser/dom.ts'
import { openSharpCamera, showStream, takeStill } from '../devices/devices.ts'
import { PICTURE } from '../devices/monitor.ts'
import { explainFailure, obstacle } from '../session/failures.ts'
import { createStep, formatSendFailure, type Preparation, type Step } from './step.ts'

const QUALITY = 0.88

export type PhotoKind = 'id_photo' | 'face_photo'

/** Step in which the candidate takes a photo, reviews it, and sends it. @param onSent called when the service has it. */
export function offerPhoto(preparing: Preparation, kind: PhotoKind, isThere: boolean, onSent: () => void): Step {
  const { t, session } = preparing
  const alt = t.text('photo.alt', { photo: kind })
  const preview = createElement('video', { class: PICTURE, hidden: true, 'aria-label': t.text('device.preview') })
  const place = createElement('div', { class: 'photo flex *:max-h-80 *:max-w-full *:rounded-box' })
  const openButton = createButton(t.text(isThere ? 'photo.another' : 'photo.open'), openCamera)
  const takeButton = createButton(t.text('photo.take'), takePhoto)
  const useButton = createButton(t.text('photo.use'), sendPhoto)
  const retakeButton = createButton(t.text('photo.again'), openCamera, 'btn')
  const step = createStep(
    preparing,
    { name: kind, title: t.text('photo.title', { photo: kind }), text: t.text('photo.text', { photo: kind }), isPassed: isThere },
    preview,
    place,
    createElement('div', { class: 'mt-3 flex flex-wrap gap-3' }, openButton, takeButton, useButton, retakeButton),
  )
  let stream: MediaStream | null = null
  let jpeg: Blob | null = null
  if (isThere) showSent()
  offer(openButton)

  function offer(...visibleButtons: HTMLButtonElement[]): void {
    for (const button of [openButton, takeButton, useButton, retakeButton]) button.hidden = !visibleButtons.includes(button)
  }

  function showSent(): void {
    place.replaceChildren(createElement('img', { src: `${session.base}/photos/${kind}?${Date.now()}`, alt }))
  }

  async function openCamera(): Promise<void> {
    step.fail('')
    try {
      stream = await openSharpCamera()
    } catch (error) {
      return step.fail(obstacle(t, 'camera') || (await explainFailure(t, error, 'camera')))
    }
    await showStream(preview, stream)
    preview.hidden = false
    place.replaceChildren()
    offer(takeButton)
    takeButton.focus()
  }

  async function takePhoto(): Promise<void> {
    try {
      const still = await takeStill(preview, QUALITY)
      jpeg = still.jpeg
      still.canvas.setAttribute('role', 'img')
      still.canvas.setAttribute('aria-label', alt)
      place.replaceChildren(still.canvas)
    } catch {
      return step.fail(t.text('photo.nothing'))
    }
    closeCamera()
    offer(useButton, retakeButton)
    useButton.focus()
  }

  async function sendPhoto(): Promise<void> {
    step.fail('')
    try {
      await session.send('PUT', `/photos/${kind}`, { bytes: jpeg!, type: 'image/jpeg', until: performance.now() + 30_000 })
    } catch (error) {
      return step.fail(formatSendFailure(t, error))
    }
    openButton.textContent = t.text('photo.another')
    showSent()
    offer(openButton)
    step.setPassed(true, t.text('photo.sent'))
    onSent()
  }

  function closeCamera(): void {
    for (const track of stream?.getTracks() ?? []) track.stop()
    stream = null
    preview.hidden = true
  }

  return { ...step.step, close: closeCamera }
}
