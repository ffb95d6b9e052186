import { createDraftStore } from '../../../http/browser/draft-store.ts'

// Plays the question of a simultaneous answer in sync with the answer: the question in the left ear, the answer in the right.

/** Milliseconds, see domain/submissions/taking/align-prompt.ts. */
type Part = { from: number; to: number; promptAt: number; promptFrom: number }

const LOOK_MS = 250
/** Seconds: interpreters are seconds behind, so nobody hears less. */
const TOLERANCE = 0.15

export function playInStep(root: ParentNode): void {
  for (const box of root.querySelectorAll<HTMLElement>('[data-in-step]')) {
    const answer = box.closest('[data-attempt]')?.querySelector<HTMLMediaElement>('audio, video')
    if (answer) follow(box, answer, box.querySelector<HTMLAudioElement>('[data-prompt-track]')!)
  }
}

function follow(box: HTMLElement, answer: HTMLMediaElement, prompt: HTMLAudioElement): void {
  const parts: Part[] = JSON.parse(box.dataset.inStep!)
  const isOn = box.querySelector<HTMLInputElement>('[data-with-prompt]')!
  const stored = createDraftStore<boolean>('question with the answer')
  isOn.checked = stored.read() ?? true
  const ears = separateEars(box, { answer, prompt })
  /** The answer waits until the question has loaded. */
  let isWaiting = false

  function step(): void {
    const time = isOn.checked && !answer.paused ? promptTimeAt(parts, answer.currentTime) : null
    if (time === null || time >= prompt.duration) {
      prompt.pause()
      return
    }
    if (Math.abs(prompt.currentTime - time) > TOLERANCE) prompt.currentTime = time
    prompt.playbackRate = answer.playbackRate
    if (prompt.paused) prompt.play().catch(() => {}) // the question can't be loaded, so the answer plays alone
  }

  answer.addEventListener('play', () => ears.use(isOn.checked))
  for (const event of ['play', 'playing', 'seeked', 'ratechange', 'pause', 'ended']) answer.addEventListener(event, step)
  answer.addEventListener('waiting', () => prompt.pause())
  prompt.addEventListener('waiting', () => {
    if (answer.paused) return
    isWaiting = true
    answer.pause()
  })
  prompt.addEventListener('canplay', () => {
    if (isWaiting) answer.play().catch(() => {}) // the player shows the error
    isWaiting = false
  })
  isOn.addEventListener('change', () => {
    stored.write(isOn.checked)
    if (!answer.paused) ears.use(isOn.checked)
    step()
  })
  setInterval(step, LOOK_MS)
}

/** Seconds of the prompt at a time of the answer; null while it does not play. */
export function promptTimeAt(parts: readonly Part[], seconds: number): number | null {
  const now = seconds * 1_000
  const part = parts.find(({ from, to }) => now >= from && now < to)
  if (!part) return null
  const time = part.promptAt + now - part.from
  return time < part.promptFrom ? null : time / 1_000
}

type Media = Record<'answer' | 'prompt', HTMLMediaElement>

/** Routes both through Web Audio when they are first played together: browsers allow it only after a click. */
function separateEars(box: HTMLElement, media: Media) {
  let pans: StereoPannerNode[] = []

  function connect(): void {
    const context = new AudioContext()
    pans = (['answer', 'prompt'] as const).map((name) => {
      const slider = box.querySelector<HTMLInputElement>(`[data-volume=${name}]`)!
      const gain = new GainNode(context, { gain: slider.valueAsNumber })
      slider.addEventListener('input', () => {
        gain.gain.value = slider.valueAsNumber
      })
      const pan = new StereoPannerNode(context)
      context.createMediaElementSource(media[name]).connect(pan).connect(gain).connect(context.destination)
      return pan
    })
    void context.resume()
  }

  return {
    use(isSeparate: boolean): void {
      if (pans.length === 0 && isSeparate) connect()
      const [answer, prompt] = pans
      if (!answer || !prompt) return
      answer.pan.value = isSeparate ? 1 : 0
      prompt.pan.value = -1
    },
  }
}
