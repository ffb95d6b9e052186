import { createDraftStore } from '../../../http/browser/draft-store.ts'
import { skipSilences } from './skip-silences.ts'

/** Players share one speed, and only one plays at a time. While one plays, the next one loads. */
export function setUpPlayers(sheet: HTMLElement, tools: HTMLElement) {
  const players = [...sheet.querySelectorAll<HTMLMediaElement>('audio:not([data-prompt-track]), video')]
  const select = tools.querySelector<HTMLSelectElement>('[data-speed]')!
  const storedSpeed = createDraftStore<string>('speed of recordings')
  const speed = storedSpeed.read() ?? ''
  if ([...select.options].some(({ value }) => value === speed)) select.value = speed
  const apply = () => {
    for (const player of players) player.playbackRate = player.defaultPlaybackRate = Number(select.value)
  }
  const change = () => {
    apply()
    storedSpeed.write(select.value)
  }
  select.addEventListener('change', change)
  for (const [place, player] of players.entries())
    player.addEventListener('play', () => {
      for (const other of players) if (other !== player) other.pause()
      const next = players[place + 1]
      if (next) next.preload = 'auto'
    })
  const toggleSilence = skipSilences(players, tools)
  apply()

  /** The player that is playing, else the one of the question's answer. */
  const playerOf = (question: Element | undefined): HTMLMediaElement | null =>
    players.find(({ paused }) => !paused) ?? question?.querySelector<HTMLMediaElement>('[data-attempt] :is(audio, video)') ?? null

  return {
    /** @returns the new speed in words. */
    changeSpeed(step: 1 | -1): string {
      select.selectedIndex = Math.min(Math.max(select.selectedIndex + step, 0), select.options.length - 1)
      change()
      return `Speed ${select.value}`
    },
    toggleSilence,
    toggle(question: Element | undefined): void {
      const player = playerOf(question)
      if (!player?.paused) player?.pause()
      else player.play().catch(() => {}) // the player shows the error
    },
    skip(question: Element | undefined, seconds: number): void {
      const player = playerOf(question)
      if (player) player.currentTime = Math.max(0, player.currentTime + seconds)
    },
  }
}
