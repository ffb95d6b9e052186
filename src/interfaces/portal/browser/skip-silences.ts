import { createDraftStore } from '../../../http/browser/draft-store.ts'

/** Seconds of a silence that are played at each end, so that no word is cut. */
const MARGIN_S = 0.3

/** Skips the silences of recordings while the box is checked. @returns a function that toggles the box and returns a message. */
export function skipSilences(players: HTMLMediaElement[], tools: HTMLElement): () => string {
  const box = tools.querySelector<HTMLInputElement>('[data-skip-silence]')!
  const storedSwitch = createDraftStore<boolean>('skip silence')
  box.checked = storedSwitch.read() ?? false
  box.addEventListener('change', () => storedSwitch.write(box.checked))
  let hasSilences = false
  for (const player of players) {
    const silences = readSilences(player)
    hasSilences ||= silences.length > 0
    player.addEventListener('timeupdate', () => {
      if (!box.checked || player.paused) return
      const silence = silences.find(({ from, to }) => player.currentTime > from && player.currentTime < to)
      if (silence) player.currentTime = silence.to
    })
  }
  box.parentElement!.hidden = !hasSilences
  return () => {
    if (!hasSilences) return 'No recording here has silences.'
    box.click()
    return box.checked ? 'Silence is skipped.' : 'Silence is played.'
  }
}

function readSilences(player: HTMLMediaElement): { from: number; to: number }[] {
  const listed = player.parentElement?.querySelector<SVGElement>('svg[data-silences]')?.dataset.silences ?? ''
  return listed
    .split(' ')
    .filter(Boolean)
    .map((silence) => {
      const [from, to] = silence.split('-').map(Number) as [number, number]
      return { from: from + MARGIN_S, to: to - MARGIN_S }
    })
}
