import { createButton, createElement, setText } from '../../../../http/browser/dom.ts'
import { playOnChosen } from '../devices/chosen-devices.ts'
import type { Player } from '../session/player.ts'
import { Refusal } from '../session/session.ts'
import { type Captions, showCaptions } from './captions.ts'
import { createIdempotencyKey, requestGrant } from './idempotency-key.ts'
import { advance, beginPlay, canBePressed, type Effect, formatPlay, type PlayEvent } from './play.ts'

/**
 * Plays a question's audio or video as often as the service grants it. Playback starts within the click, because browsers require that, and
 * pauses at the first frame until the service grants the play. So media that fail to load cost no play, and a granted play that was
 * interrupted before it began is not counted again.
 */
export function offerPrompt({ t, session, state }: Player, number: number, place: HTMLElement): () => void {
  const kind = place.dataset.prompt === 'video' ? 'video' : 'audio'
  // Media stored by the service have no address before a play is granted.
  const address = place.querySelector('a')?.href
  const label = t.text(kind === 'video' ? 'prompt.watch' : 'prompt.listen')
  const media = createElement(kind, {
    class: `prompt ${kind === 'video' ? 'w-full max-w-xl rounded-box video-ground' : ''}`,
    hidden: true,
    preload: 'none',
    playsinline: kind === 'video',
  })
  void playOnChosen(media)
  const line = createElement('p', { class: 'hint', role: 'status' })
  const words = showCaptions(media)
  const key = createIdempotencyKey(`play ${session.base} ${number}`)
  const press = createButton(label, () => dispatch({ is: 'pressed' }))
  let play = beginPlay(state.question?.playsLeft ?? 0)

  function dispatch(event: PlayEvent): void {
    const [next, effects] = advance(play, event)
    play = next
    media.hidden = !play.isShown
    for (const effect of effects) perform[effect]()
    show()
  }

  /** Playback must begin within the click, so nothing is awaited before it. */
  const perform: Record<Effect, () => void> = {
    load() {
      if (address && (!play.isGranted || media.error)) media.src = address
      if (!address && !play.isGranted) unload()
    },
    play() {
      const { run } = play
      // Nothing can be tried before the play is granted.
      if (!address && !media.src) return queueMicrotask(() => dispatch({ is: 'begun', run }))
      media.play().then(
        () => dispatch({ is: 'begun', run }),
        () => dispatch({ is: 'notBegun', run }),
      )
    },
    hold: () => media.pause(),
    ask() {
      const { run } = play
      requestGrant<Granted>(session, `/questions/${number}/plays`, {}, key)
        .then(async ({ playsLeft, link, captions }) => {
          words.setCaptions(captions)
          if (link) media.src = await fetchPlay(`${session.base}/plays/${link}/${kind}`, key.discard)
          return playsLeft
        })
        .then(
          (playsLeft) => dispatch({ is: 'granted', run, playsLeft }),
          (error) => dispatch({ is: 'refused', run, code: error instanceof Refusal ? error.code : '' }),
        )
    },
    rewind() {
      if (media.currentTime > 0) media.currentTime = 0
    },
    use: key.discard,
    unload,
  }

  function unload(): void {
    if (media.src.startsWith('blob:')) URL.revokeObjectURL(media.src)
    media.removeAttribute('src')
    media.load()
  }

  function show(): void {
    press.hidden = !canBePressed(play, key.isPending())
    setText(press, play.phase === 'paused' ? t.text('prompt.resume') : label)
    setText(line, formatPlay(t, play, key.isPending()))
  }

  media.addEventListener('ended', () => dispatch({ is: 'ended' }))
  media.addEventListener('pause', () => media.ended || dispatch({ is: 'paused' })) // such as by a media key, or by unplugging the headphones
  media.addEventListener('error', () => dispatch({ is: 'broken' }))
  place.replaceWith(createElement('div', { class: 'mt-4 flex flex-col items-start gap-2' }, media, words.place, press, line))
  show()
  return () => dispatch({ is: 'closed' })
}

/** @property link single-use link of media stored by the service. */
type Granted = { playsLeft: number; link?: string; captions?: Captions }

/**
 * Downloads the whole file, so that it plays without further requests.
 *
 * @param forget discards the key of the grant. @returns a blob URL. @throws Error if the download fails.
 */
async function fetchPlay(address: string, forget: () => void): Promise<string> {
  const answer = await fetch(address)
  if (answer.status === 403) forget() // the link was used, so the next try needs another play
  if (!answer.ok) throw new Error(`The play was answered ${answer.status}`)
  return URL.createObjectURL(await answer.blob())
}
