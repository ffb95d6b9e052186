import { button, make, setText } from '../../../http/browser/dom.ts'
import { keepAttempt } from './kept-attempt.ts'
import type { Player } from './player.ts'
import { Refusal } from './session.ts'

const ASK_WITHIN_MS = 20_000

const NOT_LOADED = 'It could not be loaded, and that does not count. Try again; if it stays so, tell whoever invited you.'
const NOT_BEGUN = 'It did not begin. Press once more: that does not count again.'
const BROKEN_OFF = 'It broke off. Tell whoever invited you.'

/**
 * Plays a question's audio or video as often as the service grants it. Pressing the button begins to play at once, because browsers let a
 * page do that only then; what could begin is held at its first picture until the service has granted the play. So what can't be loaded is
 * never asked for; and what was granted and has not begun, whatever came between, begins without being counted again.
 */
export function offerPrompt({ session, state }: Player, number: number, place: HTMLElement): () => void {
  const kind = place.dataset.prompt === 'video' ? 'video' : 'audio'
  const address = place.querySelector('a')!.href
  const label = kind === 'video' ? 'Watch the question' : 'Listen to the question'
  const media = make(kind, { class: 'prompt', hidden: true, preload: 'none' })
  if (kind === 'video') media.setAttribute('playsinline', '')
  const line = make('p', { class: 'facts', role: 'status' })
  const attempt = keepAttempt(`play ${session.base} ${number}`)
  let playsLeft = state.question?.playsLeft ?? 0
  let phase: 'idle' | 'loading' | 'asking' | 'playing' | 'paused' = 'idle'
  /** A play that has not begun. */
  let isGranted = false
  let problem = ''
  let runs = 0

  const play = button(label, press)

  function show(): void {
    const left = isGranted ? playsLeft + 1 : Math.max(playsLeft, attempt.isPending() ? 1 : 0)
    play.hidden = phase === 'asking' || phase === 'playing' || (phase !== 'paused' && left === 0)
    setText(play, phase === 'paused' ? 'Go on' : label)
    if (phase === 'loading' || phase === 'asking') setText(line, 'Loading the question…')
    else setText(line, problem || wordLeft(left))
  }

  function wordLeft(left: number): string {
    if (left === 0) return phase === 'playing' ? '' : 'It can’t be played again.'
    const more = phase === 'playing' || left < (state.question?.playsLeft ?? 0) ? ' more' : ''
    return `It can be played ${left === 1 ? 'once' : `${left} times`}${more}.`
  }

  /** Nothing is awaited before it begins to play. */
  function press(): void {
    problem = ''
    media.hidden = false
    if (phase === 'paused') begin('playing')
    else load()
  }

  function load(): void {
    if (!isGranted || media.error) media.src = address
    begin('loading')
  }

  function begin(as: typeof phase): void {
    phase = as
    const run = ++runs
    media.play().then(
      () => run === runs && void begun(),
      () => run === runs && stopWith(isGranted ? NOT_BEGUN : NOT_LOADED),
    )
    show()
  }

  async function begun(): Promise<void> {
    if (phase === 'playing') return
    if (isGranted) {
      isGranted = false
      attempt.done()
      phase = 'playing'
      return show()
    }
    const run = runs
    phase = 'asking'
    media.pause()
    show()
    const refusal = await ask()
    if (run !== runs) return
    if (refusal) return stopWith(refusal)
    if (media.currentTime > 0) media.currentTime = 0
    begin('asking')
  }

  /** @returns why it was not granted, in a sentence; empty when it was. */
  async function ask(): Promise<string> {
    try {
      const until = performance.now() + ASK_WITHIN_MS
      const sending = { json: {}, until, attempt: attempt.id() }
      const granted = (await session.send('POST', `/questions/${number}/plays`, sending)) as { playsLeft: number }
      playsLeft = granted.playsLeft
      isGranted = true
      return ''
    } catch (error) {
      const code = error instanceof Refusal ? error.code : ''
      // Perhaps it was granted: the next press asks for the same play.
      if (code === 'unreachable') return 'No connection: it was not played. Try again.'
      attempt.done()
      if (code !== 'no_plays_left') return 'It can’t be played now.'
      playsLeft = 0
      return 'It has been played as often as it may be: it can’t be played again.'
    }
  }

  function stopWith(text: string): void {
    runs++
    phase = 'idle'
    problem = text
    media.hidden = true
    if (!isGranted) unload()
    show()
  }

  function unload(): void {
    media.removeAttribute('src')
    media.load()
  }

  media.addEventListener('ended', () => {
    phase = 'idle'
    show()
  })
  media.addEventListener('pause', () => {
    if (phase !== 'playing' || media.ended) return
    phase = 'paused' // by a key of the device, or a headphone that was pulled out
    show()
  })
  media.addEventListener('error', () => {
    if (phase === 'playing' || phase === 'paused') stopWith(BROKEN_OFF)
  })
  place.replaceWith(make('div', { class: 'prompt-place' }, media, play, line))
  show()
  return () => {
    runs++
    media.pause()
  }
}
