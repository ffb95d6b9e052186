import { decodeLevel, findSilences, LEVEL_MS, type Silence } from '../../../domain/submissions/media/levels.ts'
import { type Html, html } from '../../../html/html.ts'

const BARS = 160
const HEIGHT = 40
const MIDDLE = HEIGHT / 2
/** Peak that fills the height, unless one is louder. */
const LEAST_LOUDEST = 0.05

/** Waveform of a recording by its levels. Scripts mark what has been played and skip silences. Decorative: the player below offers the same. */
export function drawWaveform(id: string, levels: Uint8Array): Html {
  const silences = findSilences(levels)
  const seconds = silences.map(({ from, to }) => `${from / 1_000}-${to / 1_000}`).join(' ')
  const scale = BARS / (levels.length * LEVEL_MS)
  const shade = ({ from, to }: Silence) =>
    html`<rect class="fill-warning/20" x="${(from * scale).toFixed(1)}" y="0" width="${((to - from) * scale).toFixed(1)}" height="${HEIGHT}"></rect>`
  return waveformFrame(id, { path: toPath(levels), shades: silences.map(shade), silences: seconds })
}

type Drawing = { path: string; shades?: Html[]; silences?: string; address?: string }

/** @property address of the recording, if the browser has to decode it to draw it. @property silences seconds: `3-7.5 12-20`. */
export function waveformFrame(id: string, { path, shades = [], silences = '', address = '' }: Drawing): Html {
  const clip = `played-${id}`
  return html`<svg class="${`${address ? 'noscript:hidden ' : ''}mb-2 h-16 w-full`}" viewBox="0 0 ${BARS} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true" data-waveform="${address}" data-silences="${silences}"><defs><clipPath id="${clip}"><rect width="0" height="${HEIGHT}"></rect></clipPath></defs>${shades}<path class="stroke-base-content/30" d="${path}" fill="none" stroke-width="0.6"></path><path class="stroke-primary" clip-path="${`url(#${clip})`}" d="${address ? '' : path}" fill="none" stroke-width="0.6"></path></svg>`
}

export const FLAT_LINE = `M0 ${MIDDLE}h${BARS}`

function toPath(levels: Uint8Array): string {
  const peaks = Array.from({ length: BARS }, (_, bar) => {
    const from = Math.floor((bar * levels.length) / BARS)
    const to = Math.max(from + 1, Math.floor(((bar + 1) * levels.length) / BARS))
    return decodeLevel(Math.max(0, ...levels.subarray(from, to)))
  })
  const loudest = Math.max(...peaks, LEAST_LOUDEST)
  return peaks
    .map((peak, bar) => {
      const half = Math.max(0.5, ((peak / loudest) * (HEIGHT - 4)) / 2)
      return `M${bar + 0.5} ${(MIDDLE - half).toFixed(1)}v${(half * 2).toFixed(1)}`
    })
    .join('')
}
