// Waveform of a recorded answer: marks the played part, and seeks on a click. The service draws it from the levels of the recording. Without
// levels it is decoded here, if the recording is small enough, see MOST_DRAWN_BYTES in submissions/answers.parts.ts.

const BARS = 160
const HEIGHT = 40
/** Sample rate in Hz; a drawing needs few samples. */
const RATE = 8_000

/** Draws waveforms as they come near the viewport; those without levels load their recording. A click seeks the player. */
export function drawWaveforms(root: ParentNode): void {
  const drawings = [...root.querySelectorAll<SVGSVGElement>('svg[data-waveform]')]
  const near = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue
        near.unobserve(target)
        void draw(target as SVGSVGElement)
      }
    },
    { rootMargin: '200px' },
  )
  for (const drawing of drawings) near.observe(drawing)
}

async function draw(drawing: SVGSVGElement): Promise<void> {
  const player = drawing.parentElement!.querySelector<HTMLMediaElement>('audio, video')!
  const [wholePath, playedPath] = drawing.querySelectorAll('path')
  const window = drawing.querySelector('clipPath rect')!
  const address = drawing.dataset.waveform!
  if (address) {
    const peaks = await readPeaks(address).catch(() => null)
    if (!peaks) return // a recording that was deleted or can't be decoded keeps a plain line
    for (const path of [wholePath!, playedPath!]) path.setAttribute('d', toPath(peaks))
  }
  const follow = () => window.setAttribute('width', String(BARS * (player.currentTime / player.duration || 0)))
  player.addEventListener('timeupdate', follow)
  player.addEventListener('seeked', follow)
  drawing.classList.add('cursor-pointer')
  drawing.addEventListener('click', ({ clientX }) => {
    const { left, width } = drawing.getBoundingClientRect()
    if (Number.isFinite(player.duration)) player.currentTime = ((clientX - left) / width) * player.duration
  })
}

/** Peak amplitude of each bar, scaled so that the loudest is 1. */
async function readPeaks(address: string): Promise<number[]> {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`No recording, but ${answer.status}`)
  const sound = await new OfflineAudioContext(1, 1, RATE).decodeAudioData(await answer.arrayBuffer())
  const samples = sound.getChannelData(0)
  const length = Math.max(1, Math.floor(samples.length / BARS))
  const peaks = Array.from({ length: BARS }, (_, i) => findPeak(samples, i * length, length))
  const most = Math.max(...peaks, 0.05)
  return peaks.map((peak) => peak / most)
}

function findPeak(samples: Float32Array, from: number, length: number): number {
  let peak = 0
  for (let i = from; i < Math.min(from + length, samples.length); i++) peak = Math.max(peak, Math.abs(samples[i]!))
  return peak
}

const toPath = (peaks: number[]): string =>
  peaks
    .map((peak, i) => {
      const half = Math.max(1, (peak * (HEIGHT - 4)) / 2)
      return `M${i + 0.5} ${(HEIGHT / 2 - half).toFixed(1)}v${(half * 2).toFixed(1)}`
    })
    .join('')
