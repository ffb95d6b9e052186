import { createDraftStore } from '../../../http/browser/draft-store.ts'

/** Players share one speed, and only one plays at a time. */
export function setUpPlayers(sheet: HTMLElement, tools: HTMLElement) {
  const players = [...sheet.querySelectorAll<HTMLMediaElement>('audio, video')]
  const select = tools.querySelector<HTMLSelectElement>('[data-speed]')!
  const kept = createDraftStore<string>('speed of recordings')
  const speed = kept.read() ?? ''
  if ([...select.options].some(({ value }) => value === speed)) select.value = speed
  const apply = () => {
    for (const player of players) player.playbackRate = player.defaultPlaybackRate = Number(select.value)
  }
  select.addEventListener('change', () => {
    apply()
    kept.write(select.value)
  })
  for (const player of players)
    player.addEventListener('play', () => {
      for (const other of players) if (other !== player) other.pause()
    })
  apply()

  /** The player that is playing, else the one of the question's answer. */
  const playerOf = (question: Element | undefined): HTMLMediaElement | null =>
    players.find(({ paused }) => !paused) ?? question?.querySelector<HTMLMediaElement>('audio, video') ?? null

  return {
    toggle(question: Element | undefined): void {
      const player = playerOf(question)
      if (!player?.paused) player?.pause()
      else player.play().catch(() => {}) // it says so itself
    },
    skip(question: Element | undefined, seconds: number): void {
      const player = playerOf(question)
      if (player) player.currentTime = Math.max(0, player.currentTime + seconds)
    },
  }
}
