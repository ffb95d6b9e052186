import { button, make, setText } from '../../../http/browser/dom.ts'
import type { Player } from './player.ts'
import { Refusal } from './session.ts'

/** Plays a question's audio or video as often as the service grants it: the address comes into the player for one play at a time. */
export function offerPrompt({ session, state }: Player, number: number, place: HTMLElement): () => void {
  const kind = place.dataset.prompt === 'video' ? 'video' : 'audio'
  const address = place.querySelector('a')!.href
  const media = make(kind, { class: 'prompt', hidden: true, preload: 'none' })
  if (kind === 'video') media.setAttribute('playsinline', '')
  const line = make('p', { class: 'facts' })
  let playsLeft = state.question?.playsLeft ?? 0

  function show(): void {
    setText(
      line,
      playsLeft === 0
        ? 'It can’t be played again.'
        : `It can be played ${playsLeft === 1 ? 'once' : `${playsLeft} times`}${media.src ? ' more' : ''}.`,
    )
    play.hidden = playsLeft === 0 || !(media.paused || media.ended)
  }

  const play = button(kind === 'video' ? 'Watch the question' : 'Listen to the question', async () => {
    try {
      const granted = (await session.post(`/questions/${number}/plays`, {}, performance.now() + 20_000)) as { playsLeft: number }
      playsLeft = granted.playsLeft
    } catch (error) {
      const code = error instanceof Refusal ? error.code : ''
      if (code === 'no_plays_left') playsLeft = 0
      else
        return setText(line, code === 'unreachable' ? 'No connection: it was not played. Try again.' : 'It can’t be played now.')
      return show()
    }
    media.hidden = false
    media.src = address
    await media.play().catch(() => setText(line, 'It could not be played here. Tell whoever invited you.'))
    show()
  })
  media.addEventListener('ended', show)
  media.addEventListener('error', () => setText(line, 'It could not be loaded. Tell whoever invited you.'))
  place.replaceWith(make('div', { class: 'prompt-place' }, media, play, line))
  show()
  return () => media.pause()
}
