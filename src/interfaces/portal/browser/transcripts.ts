import { createElement } from '../../../http/browser/dom.ts'

/** Makes the times of transcripts and notes seek their player, and marks the spoken line. */
export function followTranscripts(root: ParentNode): void {
  for (const attempt of root.querySelectorAll<HTMLElement>('[data-attempt]')) {
    const player = attempt.querySelector<HTMLMediaElement>('audio, video')
    if (player) follow(player, attempt)
  }
  placeNotes(root)
  seekFromAddress()
}

/** `?at=12.4#question-3` opens that question, with its player at that second. */
function seekFromAddress(): void {
  const seconds = Number(new URLSearchParams(location.search).get('at') ?? Number.NaN)
  const question = document.getElementById(location.hash.slice(1))?.closest<HTMLElement>('details, section')
  const player = question?.querySelector<HTMLMediaElement>('[data-attempt] audio, [data-attempt] video')
  if (!player || !Number.isFinite(seconds)) return
  if (question instanceof HTMLDetailsElement) question.open = true
  player.currentTime = seconds
}

const startOf = (time: HTMLElement): number => Number(time.dataset.at)
const linesOf = (attempt: ParentNode): HTMLElement[] => [...attempt.querySelectorAll<HTMLElement>('[data-transcript] [data-at]')]
const lineAt = (times: HTMLElement[], seconds: number): HTMLElement | undefined =>
  times.findLast((time) => startOf(time) <= seconds + TOLERANCE)

/** Repeats the notes of graders in the lines of the transcript in which they begin. */
export function placeNotes(root: ParentNode): void {
  for (const attempt of root.querySelectorAll<HTMLElement>('[data-attempt]')) {
    for (const old of attempt.querySelectorAll('[data-line-note]')) old.remove()
    const times = linesOf(attempt)
    for (const { dataset } of attempt.querySelectorAll<HTMLElement>('[data-note]')) {
      const words = (lineAt(times, Number(dataset.from)) ?? times[0])?.nextElementSibling
      words?.append(
        createElement('span', { class: 'text-primary block text-xs font-medium', 'data-line-note': '' }, dataset.note!),
      )
    }
  }
}

function follow(player: HTMLMediaElement, attempt: HTMLElement): void {
  const times = linesOf(attempt)
  attempt.addEventListener('click', (event) => {
    const time = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-at]') : null
    if (!time) return
    event.preventDefault()
    player.currentTime = startOf(time)
    player.play().catch(() => {}) // the player shows the error
  })
  let markedLine: Element | null = null
  const mark = () => {
    const spoken = player.currentTime > 0 ? lineAt(times, player.currentTime) : undefined
    const line = spoken?.parentElement ?? null
    if (line === markedLine) return
    markedLine?.removeAttribute('aria-current')
    line?.setAttribute('aria-current', 'true')
    markedLine = line
    if (line?.parentElement && !player.paused) line.parentElement.scrollTop = line.offsetTop - line.parentElement.offsetTop
  }
  player.addEventListener('timeupdate', mark)
  player.addEventListener('seeked', mark)
}

/** Seconds. A player set to 2.59 may report 2.589. */
const TOLERANCE = 0.05
