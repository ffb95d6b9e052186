import { button, make } from '../../../../http/browser/dom.ts'
import { openSharpCamera, showStream, takeStill } from '../devices/devices.ts'
import { PICTURE } from '../devices/monitor.ts'
import { explainFailure, obstacle } from '../session/failures.ts'
import type { Player } from '../session/player.ts'
import { makeStep, type Step, wordUnsent } from './step.ts'

const QUALITY = 0.88

export type PhotoKind = 'id_photo' | 'face_photo'

const TEXTS = {
  id_photo: {
    title: 'Photo of your identity document',
    explanation: 'Hold it close to the camera, so that it fills the picture and can be read.',
    alt: 'The photo of your identity document',
  },
  face_photo: {
    title: 'Photo of your face',
    explanation: 'Look into the camera, with light on your face and nobody else in the picture.',
    alt: 'The photo of your face',
  },
}

/** A photo: taken, looked at, taken again, sent. @param onSent when the service has it. */
export function offerPhoto({ session }: Player, kind: PhotoKind, isThere: boolean, onSent: () => void): Step {
  const { title, explanation, alt } = TEXTS[kind]
  const preview = make('video', { class: PICTURE, hidden: true, 'aria-label': 'What your camera sees' })
  const place = make('div', { class: 'photo flex *:max-h-80 *:max-w-full *:rounded-box' })
  const open = button(isThere ? 'Take another photo' : 'Open the camera', openCamera)
  const take = button('Take the photo', takePhoto)
  const use = button('Use this photo', sendPhoto)
  const again = button('Take it again', openCamera, 'btn')
  const step = makeStep(
    title,
    explanation,
    isThere,
    preview,
    place,
    make('div', { class: 'mt-3 flex flex-wrap gap-3' }, open, take, use, again),
  )
  let stream: MediaStream | null = null
  let jpeg: Blob | null = null
  if (isThere) showSent()
  offer(open)

  function offer(...offered: HTMLButtonElement[]): void {
    for (const one of [open, take, use, again]) one.hidden = !offered.includes(one)
  }

  function showSent(): void {
    place.replaceChildren(make('img', { src: `${session.base}/photos/${kind}?${Date.now()}`, alt }))
  }

  async function openCamera(): Promise<void> {
    step.fail('')
    try {
      stream = await openSharpCamera()
    } catch (error) {
      return step.fail(obstacle('camera') || (await explainFailure(error, 'camera')))
    }
    await showStream(preview, stream)
    preview.hidden = false
    place.replaceChildren()
    offer(take)
    take.focus()
  }

  async function takePhoto(): Promise<void> {
    try {
      const taken = await takeStill(preview, QUALITY)
      jpeg = taken.jpeg
      taken.canvas.setAttribute('role', 'img')
      taken.canvas.setAttribute('aria-label', alt)
      place.replaceChildren(taken.canvas)
    } catch {
      return step.fail('The camera shows nothing yet. Try again in a moment.')
    }
    closeCamera()
    offer(use, again)
    use.focus()
  }

  async function sendPhoto(): Promise<void> {
    step.fail('')
    try {
      await session.send('PUT', `/photos/${kind}`, { bytes: jpeg!, type: 'image/jpeg', until: performance.now() + 30_000 })
    } catch (error) {
      return step.fail(wordUnsent(error))
    }
    step.setPassed(true, 'Done: the photo is sent')
    open.textContent = 'Take another photo'
    showSent()
    offer(open)
    onSent()
  }

  function closeCamera(): void {
    for (const track of stream?.getTracks() ?? []) track.stop()
    stream = null
    preview.hidden = true
  }

  return { element: step.element, close: closeCamera }
}
