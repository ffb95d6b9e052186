import { createElement, setText } from '../../../../http/browser/dom.ts'

/** Captions of a prompt. Without times they are shown together. */
export type Captions = { language: string; lines: { startMs: number | null; endMs: number | null; text: string }[] }

/**
 * Shows the spoken line below the player, because an `audio` element shows no captions itself.
 *
 * @returns the element with the line, and a function that sets the captions of the current play.
 */
export function showCaptions(media: HTMLMediaElement) {
  const place = createElement('p', { class: 'min-h-12 max-w-xl text-lg', dir: 'auto', hidden: true })
  let captions: Captions | undefined
  const show = () => {
    const now = media.currentTime * 1_000
    const isSaid = ({ startMs, endMs }: Captions['lines'][number]) =>
      startMs === null || endMs === null || (startMs <= now && now < endMs)
    setText(
      place,
      (captions?.lines ?? [])
        .filter(isSaid)
        .map(({ text }) => text)
        .join(' '),
    )
  }
  media.addEventListener('timeupdate', show)
  media.addEventListener('ended', () => setText(place, ''))
  return {
    place,
    setCaptions(newCaptions: Captions | undefined): void {
      captions = newCaptions
      place.hidden = !newCaptions || newCaptions.lines.length === 0
      place.lang = newCaptions?.language ?? ''
    },
  }
}
