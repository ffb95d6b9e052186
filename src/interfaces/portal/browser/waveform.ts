// The waveform of a recorded answer, drawn where it is listened to: a browser decodes what it plays, so the service needs no program for it.
// Only recordings that are small enough to be loaded whole have one, see the sheet: some minutes of speech are less than a megabyte.

const BARS = 160
const HEIGHT = 40
/** Of the samples, of which a drawing needs few. */
const RATE = 8_000

/** Draws waveforms as they come near the window: each loads its recording. Where it is pressed, the player goes there. */
export function drawWaveforms(within: ParentNode): void {
  const drawings = [...within.querySelectorAll<SVGSVGElement>('svg[data-waveform]')]
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
  const player = drawing.parentElement!.querySelector('audio')!
  const [whole, played] = drawing.querySelectorAll('path')
  const window = drawing.querySelector('clipPath rect')!
  const peaks = await readPeaks(drawing.dataset.waveform!).catch(() => null)
  if (!peaks) return // what the browser can't decode, or was deleted, keeps its line
  for (const path of [whole!, played!]) path.setAttribute('d', toPath(peaks))
  const follow = () => window.setAttribute('width', String(BARS * (player.currentTime / player.duration || 0)))
  player.addEventListener('timeupdate', follow)
  player.addEventListener('seeked', follow)
  drawing.classList.add('cursor-pointer')
  drawing.addEventListener('click', ({ clientX }) => {
    const { left, width } = drawing.getBoundingClientRect()
    if (Number.isFinite(player.duration)) player.currentTime = ((clientX - left) / width) * player.duration
  })
}

/** How loud it is in each of so many equal parts, the loudest 1. */
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

/** A stroke for each part. */
const toPath = (peaks: number[]): string =>
  peaks
    .map((peak, i) => {
      const half = Math.max(1, (peak * (HEIGHT - 4)) / 2)
      return `M${i + 0.5} ${(HEIGHT / 2 - half).toFixed(1)}v${(half * 2).toFixed(1)}`
    })
    .join('')
