import { median } from './load.ts'
import type { Result } from './measure.ts'

const ROW = 22
const LEFT = 310
const WIDTH = 420
const TOP = 58
const RIGHT = 60
const BAR = 7

type Row = { name: string; service: number; plain: number | undefined }

/**
 * Draws, for each case that the floor takes part in, how much of its throughput the service reaches, and how much plain does: medians of
 * the rounds' ratios. Readable on a light page and on a dark one.
 *
 * @returns an SVG document.
 */
export function drawRatios(results: Result[]): string {
  const rows = results.flatMap(toRow)
  const height = TOP + rows.length * ROW + 16
  const widest = Math.max(1, ...rows.flatMap(({ service, plain = 0 }) => [service, plain]))
  const x = (ratio: number) => LEFT + (ratio / widest) * WIDTH
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((ratio) =>
    [
      `<line x1="${round(x(ratio))}" x2="${round(x(ratio))}" y1="${TOP - 8}" y2="${height - 12}" class="${ratio === 1 ? 'floor' : 'line'}"/>`,
      `<text x="${round(x(ratio))}" y="${TOP - 14}" text-anchor="middle">${ratio}</text>`,
    ].join('\n'),
  )
  const bars = rows.map(({ name, service, plain }, i) => {
    const y = TOP + i * ROW
    return [
      `<text x="${LEFT - 10}" y="${y + 11}" text-anchor="end">${escapeText(name)}</text>`,
      bar('service', x, y, service),
      plain === undefined ? '' : bar('plain', x, y + BAR + 1, plain),
      `<text x="${round(x(service)) + 5}" y="${y + 8}" class="value">${service.toFixed(2)}</text>`,
    ].join('\n')
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${LEFT + WIDTH + RIGHT} ${height}" role="img" aria-labelledby="title">
<title id="title">Throughput as a share of the floor's: the service, and plain</title>
<style>
  text { font: 12px system-ui, sans-serif; fill: #333 }
  .value { font-size: 10px }
  .service { fill: #2563a8 } .plain { fill: #b9bec6 } .line { stroke: #ddd } .floor { stroke: #777 }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd }
    .service { fill: #6ea8e6 } .plain { fill: #5b616b } .line { stroke: #333 } .floor { stroke: #999 }
  }
</style>
<rect x="${LEFT}" y="8" width="10" height="10" class="service"/><text x="${LEFT + 16}" y="17">service</text>
<rect x="${LEFT + 90}" y="8" width="10" height="10" class="plain"/><text x="${LEFT + 106}" y="17">plain</text>
<text x="${LEFT + 170}" y="17">1 = floor</text>
${ticks.join('\n')}
${bars.join('\n')}
</svg>
`
}

function toRow({ name, variants }: Result): Row[] {
  const rounds = (rival: string) => variants.find((variant) => variant.name === rival)?.rounds
  const [service, floor, plain] = [rounds('service'), rounds('floor'), rounds('plain')]
  if (!service || !floor) return []
  const over = (samples: typeof floor) => median(samples.map(({ throughput }, round) => throughput / floor[round]!.throughput))
  return [{ name, service: over(service), plain: plain && over(plain) }]
}

const bar = (rival: string, x: (ratio: number) => number, y: number, ratio: number): string =>
  `<rect x="${LEFT}" y="${y}" width="${round(x(ratio) - LEFT)}" height="${BAR}" class="${rival}"/>`

const round = (value: number): number => Math.round(value * 10) / 10
const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
